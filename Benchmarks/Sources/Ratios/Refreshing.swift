import Cistern
import Workloads

/// What refreshes in the background do to hits: the 99.9th percentile of loads of an entry that is refreshed all the time,
/// beside that of one that never is.
struct Refreshing {
  static let loads = 300_000
  static let rounds = 7

  func rows() async throws -> [Row] {
    let plain = try Cache<Int, Int>(expiry: .never)
    // Stale from the first tick of the clock on, so that whoever finds no flight on its way begins one.
    let refreshed = try Cache<Int, Int>(expiry: .after(.nanoseconds(1), graceStale: .seconds(3_600)))
    plain[1] = 1
    refreshed[1] = 1
    var pairs: [(refreshed: Double, plain: Double)] = []
    for _ in 0..<Self.rounds {
      let yardstick = try await percentile(of: plain)
      pairs.append((try await percentile(of: refreshed), yardstick))
    }
    let ratios = pairs.map { $0.refreshed / $0.plain }.sorted()
    let median = { (values: [Double]) in values.sorted()[values.count / 2] }
    return [
      Row(
        title: "p99.9 of hits on an entry that is refreshed all the time (\(refreshed.statistics.refreshes) times)",
        subject: "\(Int(median(pairs.map(\.refreshed)))) ns", yardstick: "one that never is",
        yardstickCost: "\(Int(median(pairs.map(\.plain)))) ns", ratio: median(ratios),
        spread: (ratios.first ?? 0, ratios.last ?? 0), target: 2)
    ]
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
