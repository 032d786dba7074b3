import Locking

/// What a sequence's iterators are made of: the first one's subscription is made with the sequence.
final class UpdatesSource: Sendable {
  private let scope: ErasedScope
  private let policy: ChangeBuffer.Policy
  private let subject: ObserverCenter.Subject
  /// Weak: a sequence does not keep a cache alive.
  private weak let center: ObserverCenter?
  /// Nil once the first iterator has it.
  private let first: Guarded<Subscription<IteratorMailbox>?>

  init(
    _ scope: ErasedScope, buffering policy: ChangeBuffer.Policy, hearing subject: ObserverCenter.Subject = .changes,
    of center: ObserverCenter
  ) {
    self.scope = scope
    self.subject = subject
    self.center = center
    self.policy = policy
    first = Guarded(Subscription(scope, IteratorMailbox(buffering: policy), hearing: subject, in: center))
  }

  /// A subscription for another iterator; nil where the cache is gone, and there is nothing left to bring.
  func takeSubscription() -> Subscription<IteratorMailbox>? {
    if let subscription = first.withLock({ $0.take() }) { return subscription }
    return center.map { Subscription(scope, IteratorMailbox(buffering: policy), hearing: subject, in: $0) }
  }
}
