import Locking

/// A factory for the subscriptions of a sequence's iterators. The sequence creates the first subscription itself.
final class UpdatesSource: Sendable {
  private let scope: ErasedScope
  private let policy: ChangeBuffer.Policy
  private let form: ObserverCenter.Delivery
  /// Weak, because a sequence does not keep its cache alive.
  private weak let center: ObserverCenter?
  /// The first subscription; nil after an iterator took it.
  private let first: Guarded<Subscription<IteratorMailbox>?>

  init(
    _ scope: ErasedScope, buffering policy: ChangeBuffer.Policy, delivering form: ObserverCenter.Delivery = .changes,
    of center: ObserverCenter
  ) {
    self.scope = scope
    self.form = form
    self.center = center
    self.policy = policy
    first = Guarded(Subscription(scope, IteratorMailbox(buffering: policy), delivering: form, in: center))
  }

  /// Returns the subscription for another iterator; nil if the cache was deinitialized and nothing remains to
  /// deliver.
  func takeSubscription() -> Subscription<IteratorMailbox>? {
    if let subscription = first.withLock({ $0.take() }) { return subscription }
    return center.map { Subscription(scope, IteratorMailbox(buffering: policy), delivering: form, in: $0) }
  }
}
