import Synchronization

/// The registration of a mailbox. It ends when ``end()`` is called or this object is deinitialized.
final class Subscription<Box: Mailbox>: EndableSubscription {
  let mailbox: Box
  private let scope: ErasedScope
  private let form: ObserverCenter.Delivery
  private let identifier: ObserverCenter.Identifier
  /// Weak, because an observer does not keep its cache alive.
  private weak let center: ObserverCenter?
  private let hasEnded = Atomic<Bool>(false)

  init(
    _ scope: ErasedScope, _ mailbox: Box, delivering form: ObserverCenter.Delivery = .changes, in center: ObserverCenter
  ) {
    self.scope = scope
    self.form = form
    self.mailbox = mailbox
    self.center = center
    identifier = center.add(mailbox, to: scope, delivering: form)
  }

  deinit {
    end()
  }

  /// Whether ``end()`` was called.
  var isEnded: Bool { hasEnded.load(ordering: .acquiring) }

  /// Ends the mailbox and unregisters it. After any call returns, the mailbox delivers no more changes. Only the
  /// first call unregisters.
  func end() {
    mailbox.end()
    if !hasEnded.exchange(true, ordering: .acquiringAndReleasing) {
      center?.remove(identifier, from: scope, delivering: form)
    }
  }
}

extension Subscription where Box == IteratorMailbox {
  /// Waits for the next change and returns it. Ends the subscription if no change follows, and returns nil.
  func next(isolation actor: isolated (any Actor)?) async -> ErasedChange? {
    guard let change = await mailbox.next(isolation: actor) else {
      end()
      return nil
    }
    return change
  }
}
