/// Returns keys drawn by Zipf's law. Each is a new object that shares no storage with a stored key.
package func keysByZipf<Key: BenchmarkKey>(of entries: Int, count: Int, as type: Key.Type = Key.self) -> [Key] {
  ZipfRanks(count: entries).draw(count, seed: 1).map { Key.key($0) }
}
