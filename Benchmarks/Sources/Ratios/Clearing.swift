import Cistern
import Foundation
import Workloads

/// The time that a clear of many entries, or their invalidation by a tag, takes of its caller. It is the processor
/// time of the calling thread, because work in the background may delay that thread on a busy machine.
struct Clearing {
  let entries: Int

  func rows() async throws -> [Row] {
    let cache = try Cache<Int, Int>()
    return [
      measure("clear of \(entries / 1000) k entries, until it returns", cache) { cache.removeAll() },
      measure("removal of \(entries / 1000) k entries by their tag, until it returns", cache) {
        cache.removeAll(tagged: "all")
      },
    ]
  }

  private func measure(_ title: String, _ cache: Cache<Int, Int>, _ remove: () -> Void) -> Row {
    var microseconds: [Double] = []
    for _ in 0..<9 {
      for rank in 0..<entries { cache.setValue(rank, forKey: .key(rank), tags: ["all"]) }
      let start = threadNanoseconds()
      remove()
      microseconds.append(Double(threadNanoseconds() - start) / 1e3)
    }
    let median = microseconds.sorted()[microseconds.count / 2]
    return Row(
      title: title, subject: "\(decimal(median)) µs", reference: "the calling thread's processor time",
      result: ("\(decimal(median)) µs", "≤ 50 µs", median <= 50))
  }
}

/// Returns the processor time of the calling thread.
func threadNanoseconds() -> UInt64 {
  var time = timespec()
  // The pointer is used for the duration of the call only.
  _ = unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
