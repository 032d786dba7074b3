import Cistern
import Workloads

/// Hits in memory, compared with a dictionary behind a lock that holds the same entries.
struct MemoryHits<Key: BenchmarkKey> {
  let entries: Int
  let lookUps: Int

  func rows() async throws -> [Row] {
    let cache = try Cache<Key, Int>(costLimit: entries * 2)
    let bare = BareDictionary<Key, Int>()
    for rank in 0..<entries {
      let key = Key.key(rank)
      cache.setValue(rank, forKey: key)
      bare.setValue(rank, forKey: key)
    }
    let ranks = ZipfRanks(count: entries)
    var rows: [Row] = []
    for threads in [1, 2] {
      // Each thread has its own new keys. No side profits from identity, and threads share no reference counts.
      let sequences = (0..<threads).map { thread in
        var made: [Int: Key] = [:]
        return ranks.draw(lookUps, seed: UInt64(thread + 1)).map { rank in
          if let key = made[rank] { return key }
          let key = Key.key(rank)
          made[rank] = key
          return key
        }
      }
      let pair = Pair(
        title: "memory hit, \(Key.title), \(entries / 1000) k entries, \(threads) thread\(threads == 1 ? "" : "s")",
        reference: "`Mutex<Dictionary>`", target: threads == 1 ? 1.3 : 1,
        measure: {
          time(threads: threads) { thread in
            var hits = 0
            for key in sequences[thread] where cache.value(forKey: key) != nil { hits += 1 }
            precondition(hits == sequences[thread].count)
          } / Double(lookUps)
        },
        measureReference: {
          time(threads: threads) { thread in
            var hits = 0
            for key in sequences[thread] where bare.value(forKey: key) != nil { hits += 1 }
            precondition(hits == sequences[thread].count)
          } / Double(lookUps)
        })
      rows.append(try await pair.run())
    }
    return rows
  }
}
