import Cistern
import Workloads

/// Sets of new keys in a full cache, each of which evicts an entry. The reference is a dictionary with an explicit
/// removal.
struct MemorySets {
  let entries: Int
  let sets: Int

  func rows() async throws -> [Row] {
    let cache = try Cache<Int, Int>(costLimit: entries)
    let bare = BareDictionary<Int, Int>()
    for rank in 0..<entries {
      cache.setValue(rank, forKey: .key(rank))
      bare.setValue(rank, forKey: .key(rank))
    }
    var nextInCache = entries
    var nextInBare = entries
    let pair = Pair(
      title: "set of a new key that evicts, Int, \(entries / 1000) k entries, 1 thread",
      reference: "`Mutex<Dictionary>`, set and remove", target: 1.6,
      measure: {
        let start = nanoseconds()
        for rank in nextInCache..<nextInCache + sets { cache.setValue(rank, forKey: .key(rank)) }
        nextInCache += sets
        return Double(nanoseconds() - start) / Double(sets)
      },
      measureReference: {
        let start = nanoseconds()
        for rank in nextInBare..<nextInBare + sets {
          bare.setValue(rank, forKey: .key(rank))
          bare.removeValue(forKey: .key(rank - entries))
        }
        nextInBare += sets
        return Double(nanoseconds() - start) / Double(sets)
      })
    return [try await pair.run(rounds: 5)]
  }
}
