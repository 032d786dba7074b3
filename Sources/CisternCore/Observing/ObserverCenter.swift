import Locking
import Synchronization

/// The type-erased part of an observer registry. It stores the observers, and the mailboxes that need attention.
@usableFromInline
final class ObserverCenter: Sendable {
  typealias Identifier = Registrations.Identifier

  /// The form in which an observer receives changes.
  enum Delivery: Sendable {
    /// Each change individually.
    case changes
    /// All changes of one write together.
    case changeSets
  }

  private struct State {
    var registrations = Registrations()
    var setRegistrations = Registrations(above: 1 << 63)
    /// The mailboxes that ``deliver()`` must attend to outside the lock.
    var undelivered: [(identifier: Identifier, mailbox: any Mailbox)] = []
    /// Whether the cache was deinitialized. Other objects can keep this one.
    var isFinished = false
  }

  private let state = Guarded(State())
  @usableFromInline
  let observerCount = Atomic<Int>(0)

  /// Appends a change to the mailboxes of its observers. Must be called under the shard's lock. Releases no user
  /// value.
  ///
  /// - Parameters:
  ///   - change: The change.
  ///   - makeSet: Returns the change set of this change. Called only if an observer receives change sets.
  func record(_ change: ErasedChange, makeSet: () -> ErasedChange) {
    state.withLock { state in
      state.registrations.forEach(interestedIn: change) { identifier, mailbox in
        if mailbox.append(change) { state.undelivered.append((identifier, mailbox)) }
      }
      guard state.setRegistrations.count > 0 else { return }
      let set = makeSet()
      state.setRegistrations.forEach(interestedIn: change) { identifier, mailbox in
        if mailbox.append(set) { state.undelivered.append((identifier, mailbox)) }
      }
    }
  }

  /// Appends a write that is not announced to the mailboxes of observers of contents. Otherwise as
  /// ``record(_:makeSet:)``.
  func recordUnannounced(_ change: ErasedChange) {
    state.withLock { state in
      state.registrations.forEachContents(enteredOrLeftBy: change) { identifier, mailbox in
        if mailbox.append(change) { state.undelivered.append((identifier, mailbox)) }
      }
    }
  }

  /// Appends the changes of one write to the mailboxes of their observers. Must be called under the shards' locks.
  /// Releases no user value.
  ///
  /// - Parameters:
  ///   - changes: The changes.
  ///   - makeSet: Returns the change set of the changes at the given indices, which are in some observer's scope.
  func record(_ changes: [ErasedChange], makeSet: ([Int]) -> ErasedChange) {
    state.withLock { state in
      for change in changes {
        state.registrations.forEach(interestedIn: change) { identifier, mailbox in
          if mailbox.append(change) { state.undelivered.append((identifier, mailbox)) }
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
        if mailbox.append(set) { state.undelivered.append((identifier, mailbox)) }
      }
    }
  }

  /// Wakes the observers of recorded changes. Must be called outside all locks.
  func deliver() {
    var undelivered = state.withLock { state in
      defer { if !state.undelivered.isEmpty { state.undelivered = [] } }
      return state.undelivered
    }
    // The order must not depend on dictionary order, because seeded schedules must be repeatable.
    if undelivered.count > 1 { undelivered.sort { $0.identifier < $1.identifier } }
    for (_, mailbox) in undelivered { mailbox.startDelivery() }
  }

  /// Finishes all sequences, also those that begin later. Their consumers receive the remaining changes first.
  func finish() {
    let mailboxes = state.withLock { state in
      state.isFinished = true
      return state.registrations.mailboxes.merging(state.setRegistrations.mailboxes) { one, _ in one }
    }
    for (_, mailbox) in mailboxes.sorted(by: { $0.key < $1.key }) { mailbox.finish() }
  }

  func add(_ mailbox: any Mailbox, to scope: ErasedScope, delivering form: Delivery) -> Identifier {
    let (identifier, isFinished) = state.withLock { state in
      observerCount.add(1, ordering: .relaxed)
      let identifier =
        switch form {
        case .changes: state.registrations.add(mailbox, to: scope)
        case .changeSets: state.setRegistrations.add(mailbox, to: scope)
        }
      return (identifier, state.isFinished)
    }
    // A caller may hold the lock of the events' order. The mailbox is new: it has no change and no consumer yet.
    if isFinished { mailbox.finish() }
    return identifier
  }

  func remove(_ identifier: Identifier, from scope: ErasedScope, delivering form: Delivery) {
    let unobserved = state.withLock { state in
      observerCount.subtract(1, ordering: .relaxed)
      return switch form {
      case .changes: state.registrations.remove(identifier, from: scope)
      case .changeSets: state.setRegistrations.remove(identifier, from: scope)
      }
    }
    // A user's keys, which must be destroyed outside the lock.
    withExtendedLifetime(unobserved) {}
  }
}
