import CisternTestSupport
import Cistern

/// The actions and results of a trial's callers, in the order in which they happened. The type is pure data.
/// ``Journal`` guards it.
struct Record: Sendable {
  /// The time from the call of an operation to its return, in ticks that are unique for each event.
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
    /// Whether the write of the mark found no value. An earlier removal would then have made no difference.
    var isOverNothing = false
  }

  /// The cause of an erasure, after which the value must not be readable.
  enum Erasure: Sendable {
    /// The key was removed, or all keys were removed. Pending edits end.
    case removal
    /// All values with a tag, a prefix or a matching predicate were removed. Their pending edits end, too.
    case invalidation
    /// Another value replaced it. Pending edits are applied to the new value.
    case replacement
  }

  /// The cause of a loss, after which the value may be unreadable.
  enum Loss: Sendable {
    /// Memory evicted the value.
    case memoryEviction
    /// The disk evicted the value.
    case diskEviction
    /// Time passed, and cached values may be stale.
    case aging
    /// More time passed than a value's lifetime and grace period.
    case expiry
    /// Another process wrote or removed the record. A reader gets the new one only if memory has no value.
    case foreignWrite

    var isOfTime: Bool { self == .aging || self == .expiry }
  }

  struct Fetch: Sendable {
    let mark: Int
    let policy: LoadPolicy
    var span: Span
    var hasFailed = false
    /// The effect of the outcome.
    var effect = FetchEffect.storing
    var wasCancelled = false
  }

  /// The effect of a fetch's outcome on the key, if the flight owns its entry.
  enum FetchEffect: Sendable {
    /// The mark replaces the value.
    case storing
    /// The value stays, with a new lifetime. Callers get it.
    case keeping
    /// The value stays. Callers get the mark.
    case returning
    /// The value is removed. Callers get the mark.
    case removing
    /// The value is removed. Callers get nothing.
    case absence

    var removes: Bool { self == .removing || self == .absence }
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
    /// Whether a lookup for a fresh value would have found one when the load began.
    let hadFreshValue: Bool
    var span: Span
    var outcome: Outcome?
    var source: Loaded<Document>.Source?
  }

  /// A batch or a draft over two caches.
  struct Joint: Sendable {
    let mark: Int
    var span: Span
    var isApplied = false
  }

  /// The documents of the key in two caches, as one reader found them.
  struct Pair: Sendable {
    enum Order: Sendable {
      case keyFirst, otherFirst, atOnce
    }

    let document: Document?
    let other: Document?
    let order: Order
    let span: Span
  }

  /// The keys that an enumeration returned.
  struct Enumeration: Sendable {
    var keys: [String] = []
    /// The keys for which a look-up followed.
    var comparedKeys: [String] { isUndisturbed ? [Arena.key] : [Arena.key, Arena.bystander] }
    /// The compared keys that had a value after the enumeration.
    var present: Set<String> = []
    /// Whether no other code ran during the enumeration.
    let isUndisturbed: Bool
    var span: Span
  }

  struct Edit: Sendable {
    let mark: Int
    var span: Span
    var isConfirmed = false
    var isOver: Bool { span.ended != .max }
  }

  var marks: [Int: Mark] = [:]
  /// The mark of the key's value in the file of a read-only store.
  var markInFile: Int?
  var stored: [(mark: Int, span: Span)] = []
  var erasures: [(kind: Erasure, span: Span)] = []
  var losses: [(kind: Loss, span: Span)] = []
  var lookUps: [(document: Document?, span: Span)] = []
  var fetches: [Fetch] = []
  var loads: [Load] = []
  var edits: [Edit] = []
  var joint: [Joint] = []
  var readPairs: [Pair] = []
  var enumerations: [Enumeration] = []
  /// The number of batches and of drafts over two caches that returned without an error.
  var acceptedBatches = 0
  /// The number of times that the end of the trial was announced with a key.
  var endCount = 0
  /// The ticks at which a refresh was requested.
  var refreshes: [Int] = []
  /// The number of requested refreshes whose fetch has not ended.
  var pendingRefreshes = 0
  /// The time in which the circuit breaker is open, unless the clock advances.
  var openCircuit: Span?
  /// The number of removals of a tag from the store that left a value with the tag in the other cache.
  var incompleteRemovals = 0
  /// The ticks at which a fetch failed or its caller stopped waiting for it.
  var failures: [Int] = []
  /// The number of times that an update transformed a value or a write merged one.
  var attempts = 0
  /// The number of times that the key was set to its current value.
  var equalWrites = 0
  /// The number of draft saves that threw because of a conflict.
  var conflicts = 0
  /// The documents that were seen on disk while an edit was pending.
  var seenOnDisk: [(document: Document, tick: Int)] = []
}
