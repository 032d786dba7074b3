/// A point in an operation in progress at which the second operation runs.
enum SuspensionPoint: CaseIterable, Sendable {
  /// The second tier was read, but the reader has not yet used the record.
  case secondTierRead
  /// The fetch of a load has begun.
  case fetch
  /// The fetch of one caller runs, and another caller is about to join it.
  case led
  /// A caller with a timeout has joined another caller's flight, and most of its timeout is over.
  case joined
  /// The fetched value waits for space in staging.
  case room
  /// An update transforms the value.
  case transform
  /// The change closure of an edit creates the shown value.
  case change
  /// An edit is shown and waits for its confirmation.
  case confirmation
  /// A draft or a nested draft has read the key.
  case draftRead
  /// A draft or a nested draft has written the key and is not saved yet.
  case draftWritten
  /// A nested draft is saved into the outer one, which is not saved yet.
  case draftSaved
  /// The cache merges a value with the cached one.
  case merge
  /// The body of a batch runs.
  case batchBody
  /// An observation of contents is registered, and has read nothing.
  case contentsBegun
  /// An observation of contents has delivered its first element.
  case contentsRead
  /// An enumeration has listed the keys in memory, and has returned nothing.
  case enumerationBegun
  /// An enumeration has returned its first entries.
  case enumerationRead
  /// The first caller has returned. The flight may still run.
  case answered

  /// Whether the point does not allow suspension, so that the second operation must be synchronous.
  var isSynchronous: Bool {
    switch self {
    case .secondTierRead, .change, .merge, .batchBody: true
    case .fetch, .led, .joined, .room, .transform, .confirmation, .draftRead, .draftWritten, .draftSaved,
      .contentsBegun, .contentsRead, .enumerationBegun, .enumerationRead, .answered:
      false
    }
  }

  /// Whether a flight may reach the point after its caller has returned.
  var isInFlight: Bool { self == .fetch || self == .room }

  /// Whether the user's code runs at the point. That code may use the cache itself.
  var isCallback: Bool {
    switch self {
    case .fetch, .transform, .confirmation: true
    case .secondTierRead, .led, .joined, .room, .change, .draftRead, .draftWritten, .draftSaved, .merge, .batchBody,
      .contentsBegun, .contentsRead, .enumerationBegun, .enumerationRead, .answered:
      false
    }
  }

  /// Whether code at the point must not write the key, as the documentation of updates, edits and merges states.
  var forbidsWritingTheKey: Bool { self == .transform || self == .change || self == .merge }

  /// Returns whether a cache of this kind has the point.
  func exists(in kind: CacheKind) -> Bool {
    switch self {
    case .secondTierRead: kind.hasSecondTier
    // A read-only store has no staging to wait for. A custom tier limits its queue by refusals.
    case .room: kind.isWritable && !kind.isOwn
    case .fetch, .led, .joined, .transform, .change, .confirmation, .draftRead, .draftWritten, .draftSaved, .merge,
      .batchBody, .contentsBegun, .contentsRead, .enumerationBegun, .enumerationRead, .answered:
      true
    }
  }
}
