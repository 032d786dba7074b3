import CisternCore
import CisternDisk
import Locking

/// The shared states of the stores that this process has open, one for each engine of the disk tier.
///
/// The registry of the disk tier alone decides which engine a directory has.
final class StoreRegistry: Sendable {
  static let shared = StoreRegistry()

  /// A class, because debug builds of Swift 6.3 cannot chain on an absent key of a dictionary of structures with weak
  /// references. They read undefined memory.
  private final class Reference: Sendable {
    weak let store: SharedStore?
    /// The identity of the shared state. It differs from that of a later state, even during deinitialization.
    let identity: ObjectIdentifier

    init(_ store: SharedStore) {
      self.store = store
      identity = ObjectIdentifier(store)
    }
  }

  /// A living state keeps its engine alive, so that no other engine has the same identity.
  private let references = Guarded<[ObjectIdentifier: Reference]>([:])

  /// Returns the shared state of the tier's engine: the open one, which must have these settings, or a new one.
  ///
  /// The tier of a new state stays open. Otherwise, the caller withdraws it.
  func open(
    _ tier: DiskTier, settings: OpenSettings, location: String, make: () -> SharedStore
  ) throws(CisternError) -> (store: SharedStore, isNew: Bool) {
    var made: SharedStore?
    while true {
      // The reference is returned from the lock, because releasing the last one inside it would deadlock.
      let found = references.withLock { references -> SharedStore? in
        // Bound first: Swift 6.3 does not retain an object that it reads by an optional chain to a weak reference.
        if let reference = references[tier.engineIdentity], let store = reference.store { return store }
        // Made outside the lock, below.
        if let made { references[tier.engineIdentity] = Reference(made) }
        return nil
      }
      if let found {
        if try found.addOpening(with: settings, location: location) { return (found, false) }
        // It was closed since.
        forget(ObjectIdentifier(found), of: tier.engineIdentity)
      } else if let made {
        return (made, true)
      } else {
        made = make()
      }
    }
  }

  /// Removes the shared state of an engine after it was closed or released. A newer state of the engine stays.
  func forget(_ store: ObjectIdentifier, of engine: ObjectIdentifier) {
    references.withLock { references in
      if references[engine]?.identity == store { references[engine] = nil }
    }
  }
}
