import Cistern

/// The content of a store, compared with the content that its writer can have left.
struct Findings {
  /// The number of keys that have a value.
  var found = 0
  /// The number of keys that lack a flushed value.
  var lost = 0
  /// Descriptions of all violations.
  var faults: [String] = []

  /// Reads every key.
  ///
  /// - Parameters:
  ///   - caches: The caches.
  ///   - script: The script of the trial.
  ///   - flushed: The last operation that is known to be flushed.
  ///   - evicts: Whether the store is too small for all keys, so that flushed values may be absent.
  ///   - keepsOrder: Whether every value must be at least as new as the flushed one.
  init(in caches: TrialCaches, script: Script, flushed: Int, evicts: Bool, keepsOrder: Bool = true) {
    var authors = [Int?](repeating: nil, count: Script.keyCount)
    var times = [Int](repeating: 0, count: Script.keyCount)
    for key in 0..<Script.keyCount {
      let record = caches[key].withRecord(forKey: Script.key(key).rawSpan) { metadata, bytes in
        (time: Int(metadata.created.nanosecondsSince1970), bytes: copy(bytes))
      }
      guard let record else { continue }
      found += 1
      guard let author = script.author(of: record.bytes, key: key) else {
        faults.append("key \(key) has a value that no operation wrote")
        continue
      }
      if !script.isTime(record.time, ofRecordBy: author, key: key) {
        faults.append("key \(key) has the value of \(author) with the time of \(record.time)")
      }
      authors[key] = author
      times[key] = record.time
    }
    guard keepsOrder else { return }
    compareTimes(times, authors, script, flushed)
    compareWithFlushed(authors, script, flushed, evicts: evicts)
    compareBatches(authors, script, flushed, evicts: evicts)
  }

  /// Checks that a record has the time of the last flushed operation that renewed it, or a later one.
  private mutating func compareTimes(_ times: [Int], _ authors: [Int?], _ script: Script, _ flushed: Int) {
    for (key, author) in authors.enumerated() {
      guard let author, author < flushed else { continue }
      let renewals = (author + 1...flushed).filter { if case .renew(key) = script.step($0) { true } else { false } }
      guard let last = renewals.last, times[key] < last else { continue }
      faults.append(
        "key \(key) has the value of \(author) with the time of \(times[key]), and \(last) had been flushed")
    }
  }

  private mutating func compareWithFlushed(_ authors: [Int?], _ script: Script, _ flushed: Int, evicts: Bool) {
    // The last flushed operation on each key, and whether it is a removal.
    var last = [(number: Int, isRemoval: Bool)?](repeating: nil, count: Script.keyCount)
    for number in 1..<max(2, flushed + 1) where flushed > 0 {
      switch script.step(number) {
      case .set(let key): last[key] = (number, false)
      case .remove(let key): last[key] = (number, true)
      case .batch(let keys): for key in keys { last[key] = (number, false) }
      case .renew: break
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

  /// Returns whether a removal of the key after operation `number` may have been committed.
  private func isRemoved(_ key: Int, after number: Int, flushed: Int, _ script: Script) -> Bool {
    // The writer may have flushed once more, and been killed before it reported the flush.
    for later in number + 1...max(number, flushed) + 2 * Script.mostUnflushed {
      if case .remove(key) = script.step(later) { return true }
    }
    return false
  }

  /// Checks batches: if one key has the value of a batch, all of its keys have that value or a later one.
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
  // The bytes are valid while the closure runs.
  unsafe span.withUnsafeBytes { unsafe Array($0) }
}
