import Locking
import Synchronization

/// The registry's inside, which knows no types: who observes what, and who has to be woken.
@usableFromInline
final class ObserverCenter: Sendable {
  typealias Identifier = Registrations.Identifier

  /// What an observer hears of.
  enum Subject: Sendable {
    /// Each change by itself.
    case changes
    /// The changes of one write, together.
    case changeSets
  }

  private struct State {
    var registrations = Registrations()
    var setRegistrations = Registrations(above: 1 << 63)
    /// Mailboxes that something has to be done for outside the lock.
    var unattended: [(identifier: Identifier, mailbox: any Mailbox)] = []
  }

  private let state = Guarded(State())
  @usableFromInline
  let observerCount = Atomic<Int>(0)

  /// Hands a change to the observers of its key. Under the shard's lock; frees nothing.
  ///
  /// - Parameter makeSet: makes the set of it alone, if some observer hears of sets.
  func record(_ change: ErasedChange, makeSet: () -> ErasedChange) {
    state.withLock { state in
      state.registrations.forEach(interestedIn: change) { identifier, mailbox in
        if mailbox.append(change) { state.unattended.append((identifier, mailbox)) }
      }
      guard state.setRegistrations.count > 0 else { return }
      let set = makeSet()
      state.setRegistrations.forEach(interestedIn: change) { identifier, mailbox in
        if mailbox.append(set) { state.unattended.append((identifier, mailbox)) }
      }
    }
  }

  /// Hands changes that one write made to the observers of their keys. Under the shards' locks; frees nothing.
  ///
  /// - Parameter makeSet: makes the set of those that some observer hears of, by their places.
  func record(_ changes: [ErasedChange], makeSet: ([Int]) -> ErasedChange) {
    state.withLock { state in
      for change in changes {
        state.registrations.forEach(interestedIn: change) { identifier, mailbox in
          if mailbox.append(change) { state.unattended.append((identifier, mailbox)) }
        }
      }
      guard state.setRegistrations.count > 0 else { return }
      var heard: [Identifier: (mailbox: any Mailbox, places: [Int])] = [:]
      for (place, change) in changes.enumerated() {
        state.setRegistrations.forEach(interestedIn: change) { identifier, mailbox in
          heard[identifier, default: (mailbox, [])].places.append(place)
        }
      }
      var whole: ErasedChange?
      for (identifier, (mailbox, places)) in heard {
        let set = places.count == changes.count ? whole ?? makeSet(places) : makeSet(places)
        if places.count == changes.count { whole = set }
        if mailbox.append(set) { state.unattended.append((identifier, mailbox)) }
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
    let mailboxes = state.withLock {
      $0.registrations.mailboxes.merging($0.setRegistrations.mailboxes) { one, _ in one }
    }
    for (_, mailbox) in mailboxes.sorted(by: { $0.key < $1.key }) { mailbox.finish() }
  }

  func add(_ mailbox: any Mailbox, to scope: ErasedScope, hearing subject: Subject) -> Identifier {
    state.withLock { state in
      observerCount.add(1, ordering: .relaxed)
      return switch subject {
      case .changes: state.registrations.add(mailbox, to: scope)
      case .changeSets: state.setRegistrations.add(mailbox, to: scope)
      }
    }
  }

  func remove(_ identifier: Identifier, from scope: ErasedScope, hearing subject: Subject) {
    state.withLock { state in
      observerCount.subtract(1, ordering: .relaxed)
      switch subject {
      case .changes: state.registrations.remove(identifier, from: scope)
      case .changeSets: state.setRegistrations.remove(identifier, from: scope)
      }
    }
  }
}
