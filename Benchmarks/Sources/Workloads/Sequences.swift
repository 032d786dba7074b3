/// Keys of so many entries, drawn by Zipf's law. Each is made anew: none shares storage with one that is stored.
package func keysByZipf<Key: BenchmarkKey>(of entries: Int, count: Int, as type: Key.Type = Key.self) -> [Key] {
  ZipfRanks(count: entries).draw(count, seed: 1).map { Key.key($0) }
}
