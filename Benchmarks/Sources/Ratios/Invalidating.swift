import Cistern
import Workloads

/// Invalidations and lookups while many invalidations are pending because of an endless fetch, compared with the same
/// before. It measures the processor time of the calling thread, because sweeps and purges run concurrently.
struct Invalidating {
  let entries = 10_000
  let pending = 20_000
  private let rounds = 9

  func rows() async throws -> [Row] {
    var rows: [Row] = []
    for isPrefix in [false, true] {
      rows += try await measure("memory", isPrefix, Cache<String, [UInt8]>(costLimit: 1 << 26))
      let scratch = TemporaryDirectory()
      // The memory holds no value, so that each lookup reads from disk.
      let store = try Store(directory: scratch("cistern"), memoryLimit: .bytes(1), diskLimit: .mebibytes(512))
      let cache = try store.cache("values", of: [UInt8].self, keyedBy: String.self)
      rows += try await measure("disk", isPrefix, cache) { try await store.flush() }
      try await store.close()
      // Its last use. The directory would otherwise be removed during the measurement.
      scratch.remove()
    }
    return rows
  }

  private func measure(
    _ tier: String, _ isPrefix: Bool, _ cache: Cache<String, [UInt8]>,
    settle: () async throws -> Void = {}
  ) async throws -> [Row] {
    let keys = (0..<entries).map { "user/\($0)/profile" }
    for key in keys { cache.setValue([UInt8](repeating: 7, count: 64), forKey: key, tags: ["profile"]) }
    try await settle()
    var number = 0
    func invalidate() {
      number += 1
      if isPrefix {
        cache.removeAll(withPrefix: "session/\(number)/")
      } else {
        cache.removeAll(tagged: "session\(number)")
      }
    }
    func invalidationCost() async throws -> Double {
      var costs: [Double] = []
      for _ in 0..<400 {
        let start = threadNanoseconds()
        invalidate()
        costs.append(Double(threadNanoseconds() - start))
        try await Task.sleep(for: .microseconds(200))
      }
      return costs.sorted()[costs.count / 2]
    }
    func lookUpCost() async throws -> Double {
      var costs: [Double] = []
      for _ in 0..<rounds {
        let start = threadNanoseconds()
        for key in keys { precondition(cache[key] != nil) }
        costs.append(Double(threadNanoseconds() - start) / Double(keys.count))
      }
      return costs.sorted()[rounds / 2]
    }
    let before = (try await invalidationCost(), try await lookUpCost())
    let gate = SingleWaiterGate()
    let hung = Task {
      try await cache.value(forKey: "hung") { _ in
        await gate.wait(); return []
      }
    }
    while cache.statistics.inProgressCount == 0 { await Task.yield() }
    for _ in 0..<pending { invalidate() }
    let next = try await invalidationCost()
    try await settle()
    let after = (next, try await lookUpCost())
    gate.open()
    _ = try await hung.value
    let way = isPrefix ? "prefix" : "tag"
    let state = "\(pending / 1000) k pending, one hung fetch"
    return [
      row("invalidation by \(way), \(tier), \(state)", after.0, "with none pending", before.0, target: 3),
      row("look-up, \(tier), \(state) by \(way)", after.1, "before", before.1, target: 1.2),
    ]
  }

  private func row(_ title: String, _ cost: Double, _ reference: String, _ other: Double, target: Double) -> Row {
    var row = Row(
      title: title, subject: "\(Int(cost.rounded())) ns", reference: reference,
      referenceCost: "\(Int(other.rounded())) ns", target: target)
    row.ratio = cost / other
    return row
  }
}
