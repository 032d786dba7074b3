import Synchronization

/// One mailbox's place among the observers, given back when this goes, or before.
final class Subscription<Box: Mailbox>: Sendable {
  let mailbox: Box
  private let scope: ErasedScope
  private let subject: ObserverCenter.Subject
  private let identifier: ObserverCenter.Identifier
  /// Weak: an observer does not keep a cache alive.
  private weak let center: ObserverCenter?
  private let isEnded = Atomic<Bool>(false)

  init(
    _ scope: ErasedScope, _ mailbox: Box, hearing subject: ObserverCenter.Subject = .changes, in center: ObserverCenter
  ) {
    self.scope = scope
    self.subject = subject
    self.mailbox = mailbox
    self.center = center
    identifier = center.add(mailbox, to: scope, hearing: subject)
  }

  deinit {
    end()
  }

  /// Unregisters, and ends the mailbox. The first call does it all; it has effect before any call returns.
  func end() {
    mailbox.end()
    if !isEnded.exchange(true, ordering: .acquiringAndReleasing) {
      center?.remove(identifier, from: scope, hearing: subject)
    }
  }
}
