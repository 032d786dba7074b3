/// The write of a key in a batch or a draft. Pure.
@usableFromInline
enum KeyWrite<Value: Sendable>: Sendable {
  /// The key gets this value, merged with the cached one if the cache merges.
  case store(Value, Storing)
  /// The key is removed.
  case remove
  /// The key gets several values, merged one after the other.
  case merge(MergedWrites<Value>)
}

/// The values that were set for a key one after the other, in a cache that merges.
@usableFromInline
struct MergedWrites<Value: Sendable>: Sendable {
  /// Whether the key is removed first: the values are not merged with the cached one.
  @usableFromInline let replaces: Bool
  /// The oldest first; at least one.
  @usableFromInline let values: [Value]
  /// The terms of the outcome.
  @usableFromInline let storing: Storing

  @usableFromInline
  init(_ values: [Value], _ storing: Storing, replaces: Bool) {
    self.values = values
    self.storing = storing
    self.replaces = replaces
  }

  /// These, and the others after them.
  @usableFromInline
  func followed(by later: [Value], _ storing: Storing) -> MergedWrites {
    MergedWrites(values + later, storing.keepingTags(of: self.storing), replaces: replaces)
  }
}

/// The meaning of a write for an earlier one of the same key, in the same batch or draft.
@usableFromInline
enum WriteLayering: Sendable {
  /// It replaces that.
  case replaces
  /// It replaces that, and is made of its value: the tags stay unless new ones are named.
  case edits
  /// It is merged with that.
  case merges
}

extension KeyWrite {
  /// The sum of both writes, this one being the later.
  @usableFromInline
  func following(_ earlier: KeyWrite, _ layering: WriteLayering) -> KeyWrite {
    switch (self, earlier) {
    case (.remove, _):
      return .remove
    case (.store(let value, let storing), .remove):
      let storing = storing.withoutKeptTags
      if case .merges = layering { return .merge(MergedWrites([value], storing, replaces: true)) }
      return .store(value, storing)
    case (.store(let value, let storing), .store(let former, let formerStoring)):
      switch layering {
      case .replaces: return self
      case .edits: return .store(value, storing.keepingTags(of: formerStoring))
      case .merges:
        return .merge(MergedWrites([former], formerStoring, replaces: false).followed(by: [value], storing))
      }
    case (.store(let value, let storing), .merge(let writes)):
      return .merge(writes.followed(by: [value], storing))
    case (.merge(let writes), _) where writes.replaces:
      return self
    case (.merge(let writes), .remove):
      return .merge(MergedWrites(writes.values, writes.storing.withoutKeptTags, replaces: true))
    case (.merge(let writes), .store(let former, let formerStoring)):
      let first = MergedWrites([former], formerStoring, replaces: false)
      return .merge(first.followed(by: writes.values, writes.storing))
    case (.merge(let writes), .merge(let former)):
      return .merge(former.followed(by: writes.values, writes.storing))
    }
  }

  /// The value that the write leaves; nil where it removes the key. Runs the user's merge.
  ///
  /// - Parameters:
  ///   - present: the value that it is merged with; nil for none.
  ///   - merged: merges a value over an earlier one.
  @inlinable
  func value<Failure: Error>(
    over present: Value?, _ merged: (_ incoming: Value, _ earlier: Value?) throws(Failure) -> Value
  ) throws(Failure) -> Value? {
    switch self {
    case .remove: return nil
    case .store(let value, _): return try merged(value, present)
    case .merge(let writes):
      var result = writes.replaces ? nil : present
      for value in writes.values { result = try merged(value, result) }
      return result
    }
  }

  /// The terms of the value.
  @inlinable
  var storing: Storing {
    switch self {
    case .remove: Storing(tags: .kept)
    case .store(_, let storing): storing
    case .merge(let writes): writes.storing
    }
  }

  /// Whether the write replaces the cached value in a cache that merges, too.
  @inlinable
  var replaces: Bool {
    switch self {
    case .remove: true
    case .store: false
    case .merge(let writes): writes.replaces
    }
  }
}
