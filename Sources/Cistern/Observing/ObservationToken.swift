/// What keeps a handler observing: it is told of changes until the token is cancelled or goes out of scope.
///
///     let token = articles.observe(.prefix("user/")) { change in … }
///
/// Keep it where the observer lives: in a variable, a property of a class or actor or, with the tokens of other
/// observations, in ``Observations``. It cannot be copied, so that there is one place where the observation ends.
///
/// The handler runs on a thread of the library's or on an executor of the user's choice, one call at a time, in the order of the
/// changes of each key; it may use the cache as it likes. It is held on to until the end: one that refers to the token's owner should do so weakly.
public struct ObservationToken: ~Copyable, Sendable {
  private let subscription: Subscription<HandlerMailbox>

  init(_ subscription: Subscription<HandlerMailbox>) {
    self.subscription = subscription
  }

  deinit {
    subscription.end()
  }

  /// Ends the observation. The handler is not called with any change after this has returned; a call that is under way
  /// on another thread may not have returned yet. Any thread may cancel, the handler too; again has no effect. O(1) in
  /// the number of observers.
  public borrowing func cancel() {
    subscription.end()
  }

  /// Keeps the observation for as long as `observations` live.
  public consuming func store(in observations: Observations) {
    observations.insert(self)
  }
}
