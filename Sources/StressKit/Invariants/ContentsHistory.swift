import Cistern

/// The contents that a consumer builds from the elements of an observation, and the contradictions between elements. Pure.
///
/// Each value is written once. A change whose previous value is not the one before it is therefore a gap or a duplicate.
struct ContentsHistory: Sendable {
  private(set) var contents: [String: UInt64] = [:]
  /// Whether the initial entries have ended.
  private(set) var isComplete = false

  /// Applies an element. Returns its contradiction to the elements before it; nil for none.
  mutating func take(_ update: ContentUpdate<String, UInt64>) -> String? {
    let contradiction = judge(update)
    switch update {
    case .initialEnded: isComplete = true
    case .restarted: isComplete = false
    case .initial, .changed, .left, .failed: break
    }
    update.apply(to: &contents)
    return contradiction
  }

  private func judge(_ update: ContentUpdate<String, UInt64>) -> String? {
    switch update {
    case .initial(let key, _):
      if isComplete { return "\(key) is an initial entry after the end of the initial entries" }
      return contents[key].map { "\(key) was \($0), and is an initial entry" }
    case .initialEnded: return isComplete ? "the initial entries ended twice" : nil
    case .changed(let change): return judge(change)
    case .restarted: return nil
    case .left(let key): return "\(key) left the contents, although its tags do not select it"
    case .failed(let error): return "the contents failed: \(error)"
    }
  }

  private func judge(_ change: Change<String, UInt64>) -> String? {
    switch change.event {
    case .inserted(let key, _), .updated(let key, _): return judge(change.previous, of: key)
    // A removal can concern a key that no element before has.
    case .removed(let key, _): return contents[key] == nil ? nil : judge(change.previous, of: key)
    case .cleared, .invalidated: return "\(change.event) is no change of a key"
    }
  }

  private func judge(_ previous: PreviousValue<UInt64>, of key: String) -> String? {
    switch (contents[key], previous) {
    // During the initial entries, a key that was not read yet is absent.
    case (nil, .value(let value)) where isComplete: "\(key) was absent, and changed from \(value)"
    case (let present?, .value(let value)) where value != present: "\(key) was \(present), and changed from \(value)"
    case (let present?, .none): "\(key) was \(present), and changed from nothing"
    case (_, .value), (_, .none), (_, .unknown): nil
    }
  }

  /// Compares the contents with the values of an idle cache. Returns a difference; nil for none.
  func judgeRest(_ values: [String: UInt64]) -> String? {
    guard isComplete else { return "the initial entries have not ended" }
    let different = Set(contents.keys).union(values.keys).sorted().first { contents[$0] != values[$0] }
    return different.map { key in
      "\(key) is \(values[key].map(String.init) ?? "absent"), but the contents have \(contents[key].map(String.init) ?? "nothing")"
    }
  }
}
