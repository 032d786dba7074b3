import Cistern
import Workloads

/// How long a clear of many entries keeps its caller, by the clock.
struct Clearing {
  let entries: Int

  func rows() async throws -> [Row] {
    let cache = try Cache<Int, Int>()
    var microseconds: [Double] = []
    for _ in 0..<9 {
      for rank in 0..<entries { cache.setValue(rank, forKey: .key(rank)) }
      let duration = ContinuousClock().measure { cache.removeAll() }
      microseconds.append(Double(duration.components.attoseconds) / 1e12)
    }
    let median = microseconds.sorted()[microseconds.count / 2]
    return [
      Row(
        title: "clear of \(entries / 1000) k entries, until it returns", subject: "\(decimal(median)) µs",
        yardstick: "the clock", result: ("\(decimal(median)) µs", "≤ 50 µs", median <= 50))
    ]
  }
}
