/// The write of a key in a batch or a draft. Pure.
@usableFromInline
enum KeyWrite<Value: Sendable>: Sendable {
  /// Stores the value, merged with the cached one if the cache merges.
  case store(Value, WriteOptions)
  /// Removes the key.
  case remove
  /// Stores several values that are merged one after the other.
  case merge(MergedWrites<Value>)
}

extension KeyWrite {
  /// Returns the combination of an earlier write and this one.
  @usableFromInline
  func following(_ earlier: KeyWrite, _ layering: WriteLayering) -> KeyWrite {
    switch (self, earlier) {
    case (.remove, _):
      return .remove
    case (.store(let value, let writeOptions), .remove):
      let writeOptions = writeOptions.withoutKeptTags
      if case .merges = layering { return .merge(MergedWrites([value], writeOptions, replaces: true)) }
      return .store(value, writeOptions)
    case (.store(let value, let writeOptions), .store(let former, let formerOptions)):
      switch layering {
      case .replaces: return self
      case .edits: return .store(value, writeOptions.keepingTags(of: formerOptions))
      case .merges: return KeyWrite.merge(MergedWrites([former], formerOptions, replaces: false)).extended(by: self)
      }
    case (.merge(let writes), _) where writes.replaces:
      return self
    case (.merge(let writes), .remove):
      return .merge(MergedWrites(writes.values, writes.writeOptions.withoutKeptTags, replaces: true))
    case (.merge, .store(let former, let formerOptions)):
      return KeyWrite.merge(MergedWrites([former], formerOptions, replaces: false)).extended(by: self)
    case (.store, .merge), (.merge, .merge):
      return earlier.extended(by: self)
    }
  }

  private func extended(by later: KeyWrite) -> KeyWrite {
    var result = self
    _ = result.extend(by: later)
    return result
  }

  /// Adds the values of a later write to several merged values, without a copy of the earlier ones.
  ///
  /// - Returns: Whether the values were added. If not, this write is unchanged: it does not merge several values, or the
  ///   later write replaces them.
  @usableFromInline
  mutating func extend(by later: KeyWrite) -> Bool {
    guard case .merge(var writes) = self, !later.replaces else { return false }
    // `writes` is then the only reference to the values, so that they are extended in place.
    self = .remove
    switch later {
    case .store(let value, let writeOptions): writes.append([value], writeOptions)
    case .merge(let later): writes.append(later.values, later.writeOptions)
    case .remove: break
    }
    self = .merge(writes)
    return true
  }

  /// Returns the part of the write that followed an earlier write of the same key, without a removal since. The earlier
  /// write was saved, so the values of this part are merged with the value below.
  func remainder(after earlier: KeyWrite) -> KeyWrite {
    guard case .merge(let writes) = self else { return self }
    let savedCount =
      switch earlier {
      case .remove: 0
      case .store: 1
      case .merge(let earlier): earlier.values.count
      }
    let values = Array(writes.values.dropFirst(savedCount))
    var writeOptions = writes.writeOptions
    // Later values that named no tags have those of the saved value. They keep the tags below from now on.
    if case .named(let tags) = writeOptions.tags, case .named(let saved) = earlier.writeOptions.tags, tags == saved {
      writeOptions = WriteOptions(expiry: writeOptions.expiry, tags: .kept)
    }
    if values.count == 1 { return .store(values[0], writeOptions) }
    return .merge(MergedWrites(values, writeOptions, replaces: false))
  }

  /// Returns the value after the write, or nil if the write removes the key. Calls the user's merge closure.
  ///
  /// - Parameters:
  ///   - current: The value to merge with, or nil for none.
  ///   - merged: A closure that merges a value with an earlier one.
  /// - Returns: The value after the write; nil if the write removes the key.
  /// - Throws: The error of `merged`.
  @inlinable
  func value<Failure: Error>(
    over current: Value?, _ merged: (_ incoming: Value, _ earlier: Value?) throws(Failure) -> Value
  ) throws(Failure) -> Value? {
    switch self {
    case .remove: return nil
    case .store(let value, _): return try merged(value, current)
    case .merge(let writes):
      var result = writes.replaces ? nil : current
      for value in writes.values { result = try merged(value, result) }
      return result
    }
  }

  /// Returns the same write, whose value keeps these tags unless the write names others.
  func keepingTags(_ tags: [String]) -> KeyWrite {
    switch self {
    case .remove: self
    case .store(let value, let writeOptions): .store(value, writeOptions.keepingTags(tags))
    case .merge(let writes):
      .merge(MergedWrites(writes.values, writes.writeOptions.keepingTags(tags), replaces: writes.replaces))
    }
  }

  /// Returns the named tags of the key's value after the write.
  ///
  /// - Parameter tags: The tags of the value that the write replaces.
  /// - Returns: The tags.
  func namedTags(over tags: [String]) -> [String] {
    if case .remove = self { return [] }
    return writeOptions.keepingTags(tags).namedTags
  }

  /// The write options of the value.
  @inlinable
  var writeOptions: WriteOptions {
    switch self {
    case .remove: WriteOptions(tags: .kept)
    case .store(_, let writeOptions): writeOptions
    case .merge(let writes): writes.writeOptions
    }
  }

  /// Whether the write replaces the cached value even in a cache that merges.
  @inlinable
  var replaces: Bool {
    switch self {
    case .remove: true
    case .store: false
    case .merge(let writes): writes.replaces
    }
  }
}
