/// A model of a cache that never forgets: a dictionary with lifetimes.
struct CacheModel {
  private struct Entry {
    var value: Int
    /// In nanoseconds; nil for a value that never expires.
    var deadline: UInt64?
  }

  private var entries: [String: Entry] = [:]
  private(set) var now: UInt64 = 0

  mutating func set(_ key: String, _ value: Int, lifetime: UInt64?) {
    entries[key] = Entry(value: value, deadline: lifetime.map { now + $0 })
  }

  mutating func remove(_ key: String) {
    entries[key] = nil
  }

  mutating func removeAll() {
    entries = [:]
  }

  mutating func advance(by nanoseconds: UInt64) {
    now += nanoseconds
  }

  subscript(key: String) -> Int? {
    guard let entry = entries[key], entry.deadline.map({ now < $0 }) ?? true else { return nil }
    return entry.value
  }
}
