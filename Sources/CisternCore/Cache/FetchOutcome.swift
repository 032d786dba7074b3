/// The result of a fetch that received a context. It determines the value that callers get, and the value that is
/// stored.
///
/// ```swift
/// let article = try await articles.load(id) { context in
///   let response = try await client.article(id, ifNoneMatch: context.stored?.value.entityTag)
///   return switch response {
///   case .modified(let article, let lifetime): .store(article, expiry: .after(lifetime, graceStale: .seconds(600)))
///   case .notModified(let lifetime): .keepStored(expiry: .after(lifetime, graceStale: .seconds(600)))
///   case .notFound: .absent()
///   }
/// }
/// ```
///
/// An outcome is stored only while the flight owns its entry, like every fetched value. If the key was set, removed or
/// invalidated during the fetch, the waiting callers get the value, and neither tier changes. A cache that merges
/// stores the value below one that was set, merged with it.
public struct FetchOutcome<Value: Sendable>: Sendable {
  @usableFromInline
  enum Kind: Sendable {
    case store(Value)
    case keepStored
    case returnOnly(Value)
    case returnAndRemove(Value)
    case absent
  }

  @usableFromInline let kind: Kind
  /// The lifetime that the fetch gives; nil for the one that the value itself or the cache gives.
  @usableFromInline let expiry: Expiry?
  /// The tags that the fetch gives; nil for none, or for those of the stored value if that is kept.
  @usableFromInline let tags: [String]?

  @inlinable
  init(_ kind: Kind, expiry: Expiry? = nil, tags: [String]? = nil) {
    self.kind = kind
    self.expiry = expiry
    self.tags = tags
  }

  /// Returns a value and stores it in both tiers.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - expiry: The lifetime of the value; nil for the one that the value itself or the cache gives. A lifetime of
  ///     zero or less is the same as ``returnAndRemove(_:)``.
  ///   - tags: The tags of the value, beside those of ``CacheConfiguration/tagsOfValue``.
  /// - Returns: The outcome.
  @inlinable
  public static func store(_ value: Value, expiry: Expiry? = nil, tags: [String] = []) -> FetchOutcome {
    FetchOutcome(.store(value), expiry: expiry, tags: tags)
  }

  /// Returns the stored value (``FetchContext/stored``) and gives it a new lifetime, which begins now. For an origin
  /// that answers "not modified".
  ///
  /// A value with a current record on disk is not encoded again. If only its times change, a value of 4 KiB or more is
  /// not written to the disk again. Observers are not notified, because the key's value stays the same. If the record
  /// was replaced by another process, removed or evicted since the flight began, nothing is stored.
  ///
  /// If the context has no stored value, the load throws ``CisternError/Code/invalidArgument``.
  ///
  /// - Parameters:
  ///   - expiry: The new lifetime; nil for the one that the value itself or the cache gives. A lifetime of zero or less
  ///     removes the value.
  ///   - tags: The new tags, beside those of ``CacheConfiguration/tagsOfValue``; nil to keep the tags.
  /// - Returns: The outcome.
  @inlinable
  public static func keepStored(expiry: Expiry? = nil, tags: [String]? = nil) -> FetchOutcome {
    FetchOutcome(.keepStored, expiry: expiry, tags: tags)
  }

  /// Returns a value and does not store it. The older value of the key stays.
  @inlinable
  public static func returnOnly(_ value: Value) -> FetchOutcome { FetchOutcome(.returnOnly(value)) }

  /// Returns a value, does not store it, and removes the older value of the key.
  @inlinable
  public static func returnAndRemove(_ value: Value) -> FetchOutcome { FetchOutcome(.returnAndRemove(value)) }

  /// States that the origin has no value for the key. The older value is removed, and no caller gets it as a fallback.
  ///
  /// ``Cache/load(_:policy:fetch:)`` returns nil. A load that returns a value, and that joined the flight, throws
  /// ``CisternError/Code/noValue``. A cache of optional values stores the absence and returns it as a value.
  ///
  /// - Parameter expiry: The lifetime of the stored absence in a cache of optional values; nil for
  ///   ``CacheConfiguration/absenceExpiry``. Other caches ignore it.
  /// - Returns: The outcome.
  @inlinable
  public static func absent(expiry: Expiry? = nil) -> FetchOutcome { FetchOutcome(.absent, expiry: expiry) }
}

extension FetchOutcome {
  /// The value that the outcome stores; nil for none.
  ///
  /// An absent value is one, if the type of the values is an optional.
  @inlinable
  var valueToStore: Value? {
    switch kind {
    case .store(let value): value
    case .absent: Absence.value
    case .keepStored, .returnOnly, .returnAndRemove: nil
    }
  }
}
