/// The tags of a value that is made of a cached one.
///
/// An update, an edit, a draft and a merge keep the tags of the cached value unless the write names others. The new
/// value still depends on the data of these tags: a removal by one of them must find it.
@usableFromInline
struct KeptTags<Value: Sendable>: Sendable {
  @usableFromInline let tagsOfValue: (@Sendable (Value) -> [String])?
  /// Whether the cache merges.
  @usableFromInline let merges: Bool

  init(tagsOfValue: (@Sendable (Value) -> [String])?, merges: Bool) {
    self.tagsOfValue = tagsOfValue
    self.merges = merges
  }
}

extension KeptTags {
  /// Returns the options for a value that is made of the one that was read.
  @inlinable
  func keepingTags<Key>(of snapshot: ReadSnapshot<Key, Value>, _ options: ReplacementOptions) -> ReplacementOptions {
    guard case .kept = options.writeOptions.tags else { return options }
    let writeOptions = options.writeOptions.keepingTags(namedTags(of: snapshot))
    return ReplacementOptions(writeOptions, effect: options.effect, context: options.context)
  }

  /// Returns the tags that were named when the value was stored.
  @usableFromInline
  func namedTags<Key>(of snapshot: ReadSnapshot<Key, Value>) -> [String] {
    guard let value = snapshot.usable else { return [] }
    return namedTags(among: snapshot.timing.tags, of: value)
  }

  /// Returns the tags of a stored value without those that it has from itself: the value that replaces it has its own.
  func namedTags(among tags: [String], of value: Value) -> [String] {
    guard !tags.isEmpty, let tagsOfValue else { return tags }
    var named = tags
    // A tag that is both named and the value's own is there twice. The value's own tags come last.
    for tag in tagsOfValue(value).withoutRepetitions {
      if let index = named.lastIndex(of: tag) { named.remove(at: index) }
    }
    return named
  }

  /// Returns the options for an arriving value. If the cache merges, the value is made of the cached one. Otherwise, it
  /// replaces that.
  @inlinable
  func arriving(_ writeOptions: WriteOptions) -> WriteOptions { merges ? writeOptions : writeOptions.withoutKeptTags }

  /// Returns the options for a fetched value. A load that names no tags keeps those of the value it is merged with.
  func arriving<Key>(_ writeOptions: WriteOptions, over snapshot: ReadSnapshot<Key, Value>, isNewer: Bool)
    -> WriteOptions
  {
    guard merges else { return writeOptions }
    // A value that was set since the fetch began is newer than the load. So are its tags.
    let keeps = writeOptions.namedTags.isEmpty || (isNewer && !snapshot.timing.tags.isEmpty)
    return keeps ? WriteOptions(expiry: writeOptions.expiry, tags: .kept) : writeOptions
  }
}
