import CisternCore
import CisternDisk
import Locking

/// The directories that the stores of this process have open, each with its shared state.
final class StoreRegistry: Sendable {
  static let shared = StoreRegistry()

  private struct Place: Sendable {
    /// The shared state, or nil while a thread opens the directory. Other threads wait.
    var store: Reference?
    /// The fork count of the process that opened the directory. After a fork, the child must not wait for locks of
    /// its parent.
    let forkCount: Int
  }

  private struct Reference: Sendable {
    weak var store: SharedStore?
    /// The identity of the shared state. It differs from that of a later state, even during deinitialization.
    let identity: ObjectIdentifier
  }

  private let places = Monitor<[DirectoryIdentity: Place]>([:])

  /// Returns the shared state of the directory: the open one, which must have these settings, or a new one.
  func open(
    _ identity: DirectoryIdentity, settings: OpenSettings, location: String,
    make: () throws(CisternError) -> SharedStore
  ) throws(CisternError) -> (store: SharedStore, isNew: Bool) {
    let forkCount = ForkCount.current
    while true {
      // The reference is returned from the lock, because releasing the last one inside it would deadlock.
      let found = places.wait { places -> SharedStore?? in
        if let place = places[identity], place.forkCount == forkCount {
          guard let reference = place.store else { return nil }
          if let store = reference.store { return .some(store) }
        }
        places[identity] = Place(store: nil, forkCount: forkCount)
        return .some(nil)
      }
      guard let found else { break }
      if try found.addOpening(with: settings, location: location) { return (found, false) }
      forget(ObjectIdentifier(found), at: identity)
    }
    do throws(CisternError) {
      let store = try make()
      let reference = Reference(store: store, identity: ObjectIdentifier(store))
      places.change { $0[identity] = Place(store: reference, forkCount: forkCount) }
      return (store, true)
    } catch {
      places.change { $0[identity] = nil }
      throw error
    }
  }

  /// Removes the shared state of a directory after it was closed or released. A newer state of the directory stays.
  func forget(_ store: ObjectIdentifier, at identity: DirectoryIdentity) {
    places.change { places in
      if places[identity]?.store?.identity == store { places[identity] = nil }
    }
  }
}
