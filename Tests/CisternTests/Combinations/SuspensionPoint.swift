/// A place in an operation in progress at which another operation happens.
enum SuspensionPoint: CaseIterable, Sendable {
  /// The second tier was read, and the reader has not yet used the record.
  case secondTierRead
  /// The fetch of a load has begun.
  case fetch
  /// The fetch of one caller runs, and another caller is about to join it.
  case led
  /// A caller with a timeout has joined the flight of another, and most of its time is over.
  case joined
  /// The fetched value waits for room in staging.
  case room
  /// An update transforms the value.
  case transform
  /// The change of an edit makes the shown value.
  case change
  /// An edit is shown and waits for its confirmation.
  case confirmation
  /// A draft, or the draft of a draft, has read the key.
  case draftRead
  /// A draft, or the draft of a draft, has written the key and is not saved.
  case draftWritten
  /// The cache merges a value with the cached one.
  case merge
  /// The body of a batch runs.
  case batchBody
  /// The first caller has its answer; the flight may still run.
  case answered

  /// Whether nothing can be awaited there, so that the other operation happens within one call.
  var isSynchronous: Bool {
    switch self {
    case .secondTierRead, .change, .merge, .batchBody: true
    case .fetch, .led, .joined, .room, .transform, .confirmation, .draftRead, .draftWritten, .answered: false
    }
  }

  /// Whether a flight may come there after its caller was answered.
  var isInFlight: Bool { self == .fetch || self == .room }

  /// Whether the user's code runs there, which may use the cache itself.
  var isCallback: Bool {
    switch self {
    case .fetch, .transform, .confirmation: true
    case .secondTierRead, .led, .joined, .room, .change, .draftRead, .draftWritten, .merge, .batchBody, .answered: false
    }
  }

  /// Whether code that runs there must not write the key: the documentation of updates, edits and merges says so.
  var forbidsWritingTheKey: Bool { self == .transform || self == .change || self == .merge }

  /// Whether a cache of this kind has it.
  func exists(in kind: CacheKind) -> Bool {
    switch self {
    case .secondTierRead, .room: kind.keepsEvicted
    case .fetch, .led, .joined, .transform, .change, .confirmation, .draftRead, .draftWritten, .merge, .batchBody,
      .answered:
      true
    }
  }
}
