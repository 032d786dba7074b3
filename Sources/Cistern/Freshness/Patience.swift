/// For how long a load waits, and what it returns instead. An object for the few loads that need one, so that the frames
/// of all others are small: see ``Flight/wait(as:)``.
@usableFromInline
final class Patience<Value: Sendable>: Sendable {
  /// After how many nanoseconds it is content with what there is instead, and after how many it gives up.
  let softTimeout, timeout: UInt64
  /// The older value, where one may be returned.
  let instead: Held<Value>?

  @usableFromInline
  init(softTimeout: UInt64, timeout: UInt64, instead: Held<Value>?) {
    self.softTimeout = softTimeout
    self.timeout = timeout
    self.instead = instead
  }

  /// Nil for a load that waits until its flight lands, and gets what that brings.
  @inlinable
  static func ifNeeded(by policy: LoadPolicy, instead: Held<Value>?) -> Patience? {
    guard policy.timeout != .max || instead != nil else { return nil }
    return Patience(softTimeout: policy.softTimeout, timeout: policy.timeout, instead: instead)
  }
}
