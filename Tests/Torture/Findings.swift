import Cistern

/// What a store holds, compared with what its writer can have left.
struct Findings {
  /// How many keys have a value.
  var found = 0
  /// Keys that lack what was flushed.
  var lost = 0
  /// What must never be, in words.
  var faults: [String] = []

  /// Reads every key.
  ///
  /// - Parameters:
  ///   - flushed: the last operation that is known to have been flushed.
  ///   - evicts: whether the store is too small for all keys, so that what was flushed may be gone.
  ///   - keepsOrder: whether nothing older than what was flushed may be there.
  init(in cache: any SecondTierPartition, script: Script, flushed: Int, evicts: Bool, keepsOrder: Bool = true) {
    var authors = [Int?](repeating: nil, count: Script.keyCount)
    for key in 0..<Script.keyCount {
      let bytes = cache.withRecord(forKey: Script.key(key).rawSpan) { _, bytes in copy(bytes) }
      guard let bytes else { continue }
      found += 1
      guard let author = script.author(of: bytes, key: key) else {
        faults.append("key \(key) has a value that nobody gave it")
        continue
      }
      authors[key] = author
    }
    guard keepsOrder else { return }
    compareWithFlushed(authors, script, flushed, evicts: evicts)
    compareBatches(authors, script, flushed, evicts: evicts)
  }

  private mutating func compareWithFlushed(_ authors: [Int?], _ script: Script, _ flushed: Int, evicts: Bool) {
    // The last operation on each key that was flushed; and whether a later one removes it, which may have been committed.
    var last = [(number: Int, isRemoval: Bool)?](repeating: nil, count: Script.keyCount)
    for number in 1..<max(2, flushed + 1) where flushed > 0 {
      switch script.step(number) {
      case .set(let key): last[key] = (number, false)
      case .remove(let key): last[key] = (number, true)
      case .batch(let keys): for key in keys { last[key] = (number, false) }
      }
    }
    for (key, author) in authors.enumerated() {
      guard let (number, isRemoval) = last[key] else { continue }
      if let author {
        if author < number { faults.append("key \(key) has the value of \(author), and \(number) had been flushed") }
      } else if !isRemoval, !evicts, !isRemoved(key, after: number, flushed: flushed, script) {
        lost += 1
        faults.append("key \(key) lacks the value of \(number), which had been flushed")
      }
    }
  }

  /// Whether a key may have been removed after an operation, by as far as the writer may have come.
  private func isRemoved(_ key: Int, after number: Int, flushed: Int, _ script: Script) -> Bool {
    // It may have flushed once more, and have been killed before it said so.
    for later in number + 1...max(number, flushed) + 2 * Script.mostUnflushed {
      if case .remove(key) = script.step(later) { return true }
    }
    return false
  }

  /// A batch that one key shows is shown by all of its keys, or by what came later.
  private mutating func compareBatches(_ authors: [Int?], _ script: Script, _ flushed: Int, evicts: Bool) {
    for number in Set(authors.compactMap(\.self)) {
      guard case .batch(let keys) = script.step(number) else { continue }
      for key in keys {
        if let author = authors[key] {
          if author < number { faults.append("batch \(number) is in part: key \(key) has the value of \(author)") }
        } else if !evicts, !isRemoved(key, after: number, flushed: flushed, script) {
          faults.append("batch \(number) is in part: key \(key) has none")
        }
      }
    }
  }
}

func copy(_ span: RawSpan) -> [UInt8] {
  // The bytes are there for as long as the closure runs.
  unsafe span.withUnsafeBytes { unsafe Array($0) }
}
