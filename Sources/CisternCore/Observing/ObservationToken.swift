/// A token that keeps an observation active. The handler receives changes until the token is cancelled or
/// deinitialized.
///
///     let token = articles.observe(.prefix("user/")) { change in … }
///
/// Store the token with the observer: in a variable, in a property of a class or actor, or with other tokens in
/// ``Observations``. A token cannot be copied, so exactly one owner ends the observation.
///
/// The handler runs on a thread of the library, on an executor of the user's choice, or on the main actor. Calls
/// never overlap, and they follow the order of each key's changes. The handler may use the cache. The observation
/// retains its handler until it ends. A handler that refers to the token's owner should do so weakly.
public struct ObservationToken: ~Copyable, Sendable {
  private let subscription: any EndableSubscription

  init(_ subscription: any EndableSubscription) {
    self.subscription = subscription
  }

  deinit {
    subscription.end()
  }

  /// Ends the observation. After this call returns, the handler is not called with another change. A call that
  /// already runs on another thread may not have returned yet.
  ///
  /// Any thread may cancel, and so may the handler. Further calls have no effect.
  ///
  /// - Complexity: O(1) in the number of observers.
  public borrowing func cancel() {
    subscription.end()
  }

  /// Moves the token into `observations`, which then keeps the observation active.
  ///
  /// - Parameter observations: The collection that ends the observation.
  public consuming func store(in observations: Observations) {
    observations.insert(self)
  }
}
