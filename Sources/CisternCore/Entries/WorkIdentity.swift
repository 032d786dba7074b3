import Locking
import Synchronization

/// The identity of a ``FlightWork``. A number and no reference: a task-local value without references takes fewer
/// instructions, and a task that outlives the work does not keep it.
@usableFromInline
struct WorkIdentity: Sendable, Hashable {
  private static let newest = Atomic<UInt64>(0)

  /// Never reused, because tasks of a fetch may outlive its work. Zero outside all fetches.
  private let number: UInt64

  /// Creates the identity of a new work.
  init() {
    number = Self.newest.wrappingAdd(1, ordering: .relaxed).newValue
  }

  private init(number: UInt64) {
    self.number = number
  }

  /// The work whose fetch the current task is part of.
  ///
  /// A task that a fetch starts with `Task { }` inherits the value. A detached task does not.
  @usableFromInline static let local = TaskLocal(wrappedValue: WorkIdentity(number: 0))

  /// The work whose fetch the current task is part of; nil outside all fetches.
  @usableFromInline
  static var enclosing: WorkIdentity? {
    let identity = local.get()
    return identity.number == 0 ? nil : identity
  }

  /// Runs the fetch of this work. During the call, the current task and the tasks that it starts are part of the work.
  ///
  /// The work's task sets the value. It would take more instructions to copy the value from the leader's task.
  @inlinable
  @inline(__always)
  func fetching<Fetched>(_ fetch: () async throws -> Fetched) async throws -> Fetched {
    try await Self.local.withValue(self, operation: fetch)
  }

  /// The waits between the fetches of all caches and coalescers.
  private static let waits = Guarded(WaitGraph<WorkIdentity>())

  /// Begins a wait of this work's fetch for another work.
  ///
  /// - Returns: False if the other work waits for this one. The fetch must not wait then.
  func beginWait(for other: WorkIdentity) -> Bool {
    Self.waits.withLock { $0.add(self, waitsFor: other) }
  }

  /// Ends a wait that ``beginWait(for:)`` began.
  func endWait(for other: WorkIdentity) {
    Self.waits.withLock { $0.remove(self, waitsFor: other) }
  }

  /// Lends this work's permit, before its fetch waits.
  @usableFromInline
  func lendPermit() { FetchPermit.held(by: self)?.lend() }

  /// Takes this work's permit back after a wait. Returns when the fetch may continue.
  @usableFromInline
  func takeBackPermit() async { await FetchPermit.held(by: self)?.takeBack() }
}
