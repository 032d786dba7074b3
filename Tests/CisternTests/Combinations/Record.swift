import Cistern

/// What the callers of a trial did and saw, in the order in which it happened. Pure data; ``Journal`` guards it.
struct Record: Sendable {
  /// From the call of an operation to its return, in ticks that no two events share.
  struct Span: Sendable {
    let began: Int
    var ended = Int.max
  }

  /// The author of a mark.
  enum Author: Sendable {
    case situation, set, fetch, update, edit, draft
  }

  struct Mark: Sendable {
    let author: Author
    let born: Int
    /// Whether the write of the mark found nothing. A removal before it would have made no difference.
    var isOverNothing = false
  }

  /// Why values are gone.
  enum Erasure: Sendable {
    /// The key was removed, or every key. Pending edits end.
    case removal
    /// Every value with a tag, a prefix or a property was removed. So are pending edits of them.
    case invalidation
    /// Another value took its place. Pending edits are applied to that.
    case replacement
  }

  /// Why values may be gone.
  enum Loss: Sendable {
    /// Memory evicted the value.
    case memoryEviction
    /// The disk evicted the value.
    case diskEviction
    /// Time passed, and values that were there may be stale.
    case aging
    /// More time passed than a value's lifetime and its grace.
    case expiry

    var isOfTime: Bool { self == .aging || self == .expiry }
  }

  struct Fetch: Sendable {
    let mark: Int
    let policy: LoadPolicy
    var span: Span
    var hasFailed = false
    var wasCancelled = false
  }

  enum Outcome: Sendable, Hashable {
    case value(Document)
    case failed
    case cancelled
    case error(CisternError.Code)
    case missing
  }

  struct Load: Sendable {
    let policy: LoadPolicy
    /// Whether a look-up for a fresh value would have found one when the load began.
    let hadFreshValue: Bool
    var span: Span
    var outcome: Outcome?
    var source: Loaded<Document>.Source?
  }

  struct Edit: Sendable {
    let mark: Int
    var span: Span
    var isConfirmed = false
    var isOver: Bool { span.ended != .max }
  }

  var marks: [Int: Mark] = [:]
  var stored: [(mark: Int, span: Span)] = []
  var erasures: [(kind: Erasure, span: Span)] = []
  var losses: [(kind: Loss, span: Span)] = []
  var lookUps: [(document: Document?, span: Span)] = []
  var fetches: [Fetch] = []
  var loads: [Load] = []
  var edits: [Edit] = []
  /// When a fetch failed, or its caller stopped waiting for it.
  var failures: [Int] = []
  /// How often an update transformed a value, or a write merged one.
  var attempts = 0
  /// How often the key was given the value that it had.
  var equalWrites = 0
  /// How often a draft's save threw because of a conflict.
  var conflicts = 0
  /// The documents that were seen on disk while an edit was pending.
  var seenOnDisk: [(document: Document, tick: Int)] = []
}
