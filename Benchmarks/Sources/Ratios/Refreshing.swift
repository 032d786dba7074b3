import Cistern
import Workloads

/// The effect of background refreshes on hits: the 99.9th percentile of loads of an entry that is always being
/// refreshed. The references are entries without refreshes. Each load is timed separately, so that both sides include
/// two reads of the clock.
struct Refreshing {
  static let loads = 300_000
  static let rounds = 7

  func rows() async throws -> [Row] {
    // The entry is stale from the first tick of the clock on. A load that finds no running flight begins one.
    let refreshed = try Cache<Int, Int>(expiry: .after(.nanoseconds(1), graceStale: .seconds(3_600)))
    // This entry has a lifetime and a grace too, but never reaches their end.
    let fresh = try Cache<Int, Int>(expiry: .after(.seconds(3_600), graceStale: .seconds(3_600)))
    let timeless = try Cache<Int, Int>(expiry: .never)
    for cache in [refreshed, fresh, timeless] { cache[1] = 1 }
    var measured: [(refreshed: Double, fresh: Double, timeless: Double)] = []
    for _ in 0..<Self.rounds {
      measured.append(
        (try await percentile(of: refreshed), try await percentile(of: fresh), try await percentile(of: timeless)))
    }
    let count = refreshed.statistics
    let stale = count.staleHits * 100 / count.memoryHits
    let title = "p99.9 of hits on an entry that is refreshed all the time"
    return [
      row("\(title), \(stale) % of them stale, \(count.refreshes) refreshes", "one that is fresh", measured) {
        $0.fresh
      },
      row(title, "one that never expires", measured) { $0.timeless },
    ]
  }

  private func row(
    _ title: String, _ reference: String, _ measured: [(refreshed: Double, fresh: Double, timeless: Double)],
    _ cost: ((refreshed: Double, fresh: Double, timeless: Double)) -> Double
  ) -> Row {
    let median = { (values: [Double]) in values.sorted()[values.count / 2] }
    let ratios = measured.map { $0.refreshed / cost($0) }.sorted()
    var row = Row(
      title: title, subject: "\(Int(median(measured.map(\.refreshed)))) ns", reference: reference,
      referenceCost: "\(Int(median(measured.map(cost)))) ns", target: 2)
    row.ratio = median(ratios)
    row.spread = (ratios.first ?? 0, ratios.last ?? 0)
    return row
  }

  private func percentile(of cache: Cache<Int, Int>) async throws -> Double {
    var times: [UInt64] = []
    times.reserveCapacity(Self.loads)
    for _ in 0..<Self.loads {
      let start = nanoseconds()
      _ = try await cache.value(forKey: 1) { _ in
        try await Task.sleep(for: .milliseconds(1))
        return 1
      }
      times.append(nanoseconds() - start)
    }
    times.sort()
    return Double(times[Self.loads * 999 / 1_000])
  }
}
