import Synchronization

/// A registration that a token ends.
protocol EndableSubscription: AnyObject, Sendable {
  /// Ends the observation. Only the first call has an effect.
  func end()
}
