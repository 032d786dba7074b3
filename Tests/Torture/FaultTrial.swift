import Cistern
import CisternDisk

import Glibc

/// A store whose files fail for some time and then work again. It runs in a separate process, which must survive.
///
/// The failing phase never changes the values that memory returns, and failed flushes throw. When the files work
/// again, the store recovers by itself with everything that was flushed before.
struct FaultTrial {
  let directory: String
  let fault: Fault
  /// Whether the files fail during the opening of the store, and not only during its use.
  let isEarly: Bool
  let durability: Durability
  private var random: Mixer
  private var model = FaultModel()
  private let reports = Reports()
  private(set) var refusals: [String] = []

  init(directory: String, seed: UInt64) {
    self.directory = directory
    random = Mixer(state: seed)
    fault = Fault(&random)
    // Files are opened, mapped and truncated only during an opening or reopening.
    let isSoon = random.next(below: 4) == 0
    isEarly = isSoon || [.open, .map, .cut].contains(fault.kinds[0])
    durability = random.next(below: 2) == 0 ? .powerCut : .processCrash
  }

  /// Returns whether all rules hold, and prints the violations.
  mutating func run() async throws -> Bool {
    var (store, cache) = try open()
    model.write(80, to: cache, &random)
    try await store.flush()
    model.flushed()
    // A full device makes the store evict.
    model.evicts = fault.error == ENOSPC || fault.error == EDQUOT
    if isEarly {
      try await store.close()
      (store, cache) = try await openWhileFailing()
      model.trim(store)
    } else {
      fault.begin()
    }
    for turn in 0..<6 {
      model.write(12, to: cache, &random)
      await flush(store)
      model.check(cache, "failing")
      if turn == 3 { model.trim(store) }
    }
    Fault.end()
    try await recover(store)
    model.write(30, to: cache, &random)
    do {
      try await store.flush()
      model.flushed()
    } catch {
      model.note("the files work, and flushing fails: \(error)")
    }
    model.check(cache, "working again")
    compareReports()
    try await store.close()
    let (again, sameCache) = try open()
    model.checkReopened(sameCache)
    try await again.close()
    compareReports()
    for fault in model.faults { say(fault) }
    return model.faults.isEmpty
  }

  private func open() throws -> (Store, FaultModel.Values) {
    let reports = reports
    var options = DiskOptions(limit: .mebibytes(4), durability: durability)
    // Faults last for some rounds, not for seconds.
    options.retryInterval = .milliseconds(2)
    let tier = try DiskTier(directory: directory, options: options, report: { reports.add($0) })
    let store = try Store(secondTier: tier, memoryLimit: .mebibytes(16))
    return (store, try store.cache("values", of: [UInt8].self, keyedBy: String.self))
  }

  /// Opens the store while its files fail. An opening either succeeds or throws the expected error, and succeeds once
  /// the files work.
  private mutating func openWhileFailing() async throws -> (Store, FaultModel.Values) {
    fault.begin()
    for _ in 0..<8 {
      do {
        return try open()
      } catch let error as CisternError {
        refusals.append("opening: \(error.code)")
        let expected = expectedAtOpening
        if !expected.contains(error.code) { model.note("opening fails with \(error.code): \(error)") }
      }
    }
    Fault.end()
    return try open()
  }

  private var expectedAtOpening: [CisternError.Code] {
    switch fault.error {
    case ENOSPC, EDQUOT: [.noSpace]
    case EACCES, EROFS: [.directoryUnusable]
    default: [.diskFailed]
    }
  }

  /// Flushes. A flush either succeeds, and then all writes are on disk, or throws the expected error.
  private mutating func flush(_ store: Store) async {
    do {
      try await store.flush()
      model.flushed()
    } catch {
      model.failedToFlush()
      refusals.append("flushing: \(error.code)")
      if error.code != .noSpace && error.code != .diskFailed {
        model.note("flushing fails with \(error.code): \(error)")
      }
    }
  }

  /// Waits until the store has recovered. The store retries by itself, and a flush makes it retry immediately.
  mutating func recover(_ store: Store) async throws {
    for _ in 0..<20 where store.statistics.disk?.mode == .degraded {
      await flush(store)
    }
    await flush(store)
    let mode = store.statistics.disk?.mode
    if mode != .active { model.note("the files work, and the store is \(mode.map { "\($0)" } ?? "gone")") }
  }

  private mutating func compareReports() {
    let text = reports.text
    if text.contains("setAside") { model.note("set aside: \(text)") }
    if text.contains("damagedRecord") { model.note("damaged: \(text)") }
    if reports.count(of: .degraded) != reports.count(of: .recovered) { model.note("not all is recovered: \(text)") }
  }
}
