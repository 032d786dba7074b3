/// The options of a write: the lifetime and the tags of the value.
@usableFromInline
struct WriteOptions: Sendable {
  /// The lifetime; nil for the one that the value itself or the cache gives.
  @usableFromInline let expiry: Expiry?
  /// The tags that the write names or keeps.
  @usableFromInline let tags: Tags

  /// The tags of a write. The value may also have tags of itself.
  @usableFromInline
  enum Tags: Sendable {
    /// These tags; may be empty.
    case named([String])
    /// The write names no tags. A value that is made of a cached one keeps the tags of that.
    case kept
  }

  @inlinable
  init(expiry: Expiry? = nil, tags: Tags = .named([])) {
    self.expiry = expiry
    self.tags = tags
  }

  /// - Parameters:
  ///   - expiry: The lifetime of the value; nil for the one that the value itself or the cache gives.
  ///   - tags: The named tags; nil if the write names none.
  @inlinable
  init(expiry: Expiry?, tags: [String]?) {
    self.init(expiry: expiry, tags: tags.map { .named($0) } ?? .kept)
  }

  /// The tags that the write names.
  @inlinable
  var namedTags: [String] { if case .named(let tags) = tags { tags } else { [] } }

  /// Whether the write names neither a lifetime nor tags.
  @inlinable
  var isPlain: Bool { expiry == nil && namedTags.isEmpty }

  /// The same options for a value that ends when one with this timing does.
  func ending(with timing: Timing, at now: MonotonicTime) -> WriteOptions {
    WriteOptions(expiry: Expiry(remainderOf: timing, at: now), tags: tags)
  }

  /// The same options for a value that replaces the cached one: no tags stay.
  @inlinable
  var withoutKeptTags: WriteOptions {
    if case .kept = tags { WriteOptions(expiry: expiry) } else { self }
  }

  /// The same options for a value that is made of the value of an earlier write.
  @inlinable
  func keepingTags(of earlier: WriteOptions) -> WriteOptions {
    if case .kept = tags { WriteOptions(expiry: expiry, tags: earlier.tags) } else { self }
  }

  /// The same options for a value that is made of one with these tags.
  @inlinable
  func keepingTags(_ tags: [String]) -> WriteOptions {
    if case .kept = self.tags { WriteOptions(expiry: expiry, tags: .named(tags)) } else { self }
  }
}
