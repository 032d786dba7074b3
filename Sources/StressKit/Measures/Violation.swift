/// A broken rule of the cache.
struct Violation: Sendable, Equatable, Codable {
  /// The rule that was broken.
  enum Rule: String, Sendable, Codable, CaseIterable {
    /// Two fetches of one key ran concurrently, although no operation had removed the entry.
    case fetchedTwice
    /// A read returned a value that is older than one that was returned or committed before the read began.
    case stale
    /// A read returned a value after its grace, or a stale value although it wanted a fresh one.
    case outlived
    /// The cache asked an origin before the retry interval had passed.
    case throttled
    /// A merged value lost a field.
    case lostField
    /// An update was lost, or counted twice.
    case lostUpdate
    /// An edit was visible after its end, was not visible before, or was counted twice.
    case edited
    /// Only a part of a batch or a draft was visible or stored.
    case torn
    /// The bytes are not those of any value that was written for the key.
    case corrupt
    /// Events of a key were out of order, repeated, or missing.
    case observed
    /// A tier held more than its limit.
    case overLimit
    /// At the end of the run, a waiter was left, or parts of the cache disagreed.
    case unsound
    /// No order of the operations explains the recorded history of a key.
    case history
    /// A call failed that must not fail.
    case failed
  }

  let rule: Rule
  let detail: String
  /// The time since the start of the run in seconds.
  let seconds: Double
}
