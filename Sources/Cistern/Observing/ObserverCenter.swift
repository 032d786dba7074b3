import Locking
import Synchronization

/// The registry's inside, which knows no types: who observes what, and who has to be woken.
@usableFromInline
final class ObserverCenter: Sendable {
  typealias Identifier = Registrations.Identifier

  private struct State {
    var registrations = Registrations()
    /// Mailboxes that something has to be done for outside the lock.
    var unattended: [(identifier: Identifier, mailbox: any Mailbox)] = []
  }

  private let state = Guarded(State())
  @usableFromInline
  let observerCount = Atomic<Int>(0)

  /// Hands a change to the observers of its key. Under the shard's lock; frees nothing.
  func record(_ change: ErasedChange) {
    state.withLock { state in
      state.registrations.forEach(interestedIn: change.key) { identifier, mailbox in
        if mailbox.append(change) { state.unattended.append((identifier, mailbox)) }
      }
    }
  }

  /// Wakes whom recorded changes concern. Outside all locks.
  func deliver() {
    var unattended = state.withLock { state in
      defer { if !state.unattended.isEmpty { state.unattended = [] } }
      return state.unattended
    }
    // Who is woken first must not depend on a dictionary's order: a seeded schedule is to be repeatable.
    if unattended.count > 1 { unattended.sort { $0.identifier < $1.identifier } }
    for (_, mailbox) in unattended { mailbox.attend() }
  }

  /// Ends every sequence, once what is in it has been taken.
  func finish() {
    let mailboxes = state.withLock { $0.registrations.mailboxes }
    for (_, mailbox) in mailboxes.sorted(by: { $0.key < $1.key }) { mailbox.finish() }
  }

  func add(_ mailbox: any Mailbox, to scope: ErasedScope) -> Identifier {
    state.withLock { state in
      observerCount.add(1, ordering: .relaxed)
      return state.registrations.add(mailbox, to: scope)
    }
  }

  func remove(_ identifier: Identifier, from scope: ErasedScope) {
    state.withLock { state in
      observerCount.subtract(1, ordering: .relaxed)
      state.registrations.remove(identifier, from: scope)
    }
  }
}
