import CisternCore

/// The contents that a consumer builds from the elements of an observation, and the contradictions between elements.
/// Pure.
///
/// Each value is written once. A change whose previous value is not the one before it is therefore a gap or a
/// duplicate. The scope of the observation selects keys, not tags.
package struct ContentsHistory<Key: Hashable & Sendable, Value: Equatable & Sendable>: Sendable {
  /// A contradiction of an element to the elements before it.
  package struct Contradiction: Sendable, CustomStringConvertible {
    /// A sentence about the contradiction.
    package let description: String
    /// Whether an absent key had a value before a change. A change can name an expired value, which is not an entry.
    package let mayBeOfExpired: Bool

    fileprivate init(_ description: String, mayBeOfExpired: Bool = false) {
      self.description = description
      self.mayBeOfExpired = mayBeOfExpired
    }
  }

  package private(set) var contents: [Key: Value] = [:]
  /// Whether the initial entries have ended.
  package private(set) var isComplete = false

  package init() {}

  /// Applies an element. Returns its contradiction to the elements before it; nil for none.
  package mutating func take(_ update: ContentUpdate<Key, Value>) -> Contradiction? {
    let contradiction = judge(update)
    switch update {
    case .initialEnded: isComplete = true
    case .restarted: isComplete = false
    case .initial, .changed, .left, .failed: break
    }
    update.apply(to: &contents)
    return contradiction
  }

  private func judge(_ update: ContentUpdate<Key, Value>) -> Contradiction? {
    switch update {
    case .initial(let key, _):
      if isComplete { return Contradiction("\(key) is an initial entry after the end of the initial entries") }
      return contents[key].map { Contradiction("\(key) was \($0), and is an initial entry") }
    case .initialEnded: return isComplete ? Contradiction("the initial entries ended twice") : nil
    case .changed(let change): return judge(change)
    case .restarted: return nil
    case .left(let key): return Contradiction("\(key) left the contents, which no tag selects")
    case .failed(let error): return Contradiction("the contents failed: \(error)")
    }
  }

  private func judge(_ change: Change<Key, Value>) -> Contradiction? {
    switch change.event {
    case .inserted(let key, _), .updated(let key, _): return judge(change.previous, of: key)
    // A removal can concern a key that no element before has.
    case .removed(let key, _): return contents[key] == nil ? nil : judge(change.previous, of: key)
    case .cleared, .invalidated: return Contradiction("\(change.event) is no change of a key")
    }
  }

  private func judge(_ previous: PreviousValue<Value>, of key: Key) -> Contradiction? {
    switch (contents[key], previous) {
    // During the initial entries, a key that was not read yet is absent. Its value can have been removed and written
    // again before the enumeration.
    case (nil, .value(let value)) where isComplete:
      Contradiction("\(key) was absent, and changed from \(value)", mayBeOfExpired: true)
    case (let present?, .value(let value)) where value != present:
      Contradiction("\(key) was \(present), and changed from \(value)")
    case (let present?, .none): Contradiction("\(key) was \(present), and changed from nothing")
    case (_, .value), (_, .none), (_, .unknown): nil
    }
  }
}

extension ContentsHistory where Key: Comparable {
  /// Compares the contents with the values of an idle cache. Returns a difference; nil for none.
  package func judgeRest(_ values: [Key: Value]) -> String? {
    guard isComplete else { return "the initial entries have not ended" }
    let different = Set(contents.keys).union(values.keys).sorted().first { contents[$0] != values[$0] }
    return different.map { key in
      let (expected, found) = (values[key].map { "\($0)" } ?? "absent", contents[key].map { "\($0)" } ?? "nothing")
      return "\(key) is \(expected), but the contents have \(found)"
    }
  }
}
