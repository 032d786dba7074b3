/// The directories that the stores of this process have open, each with the state that those stores share.
final class StoreRegistry: Sendable {
  static let shared = StoreRegistry()

  private struct Place: Sendable {
    /// Nil while a thread opens the directory: others wait.
    var store: Reference?
    /// The process that opened it, by its forks: the locks of another one may never open again.
    let forkCount: Int
  }

  private struct Reference: Sendable {
    weak var store: SharedStore?
    /// Tells the store from a later one, also while it is being deinitialized.
    let identity: ObjectIdentifier
  }

  private let places = Monitor<[DirectoryIdentity: Place]>([:])

  /// The shared state of the directory: the one that is open, which must have these settings, or a new one.
  func open(
    _ identity: DirectoryIdentity, settings: OpenSettings, location: String,
    make: () throws(CisternError) -> SharedStore
  ) throws(CisternError) -> (store: SharedStore, isNew: Bool) {
    let forkCount = ForkCount.present
    while true {
      // The reference leaves the lock, in case it is the last one.
      let found = places.wait { places -> SharedStore?? in
        if let place = places[identity], place.forkCount == forkCount {
          guard let reference = place.store else { return nil }
          if let store = reference.store { return .some(store) }
        }
        places[identity] = Place(store: nil, forkCount: forkCount)
        return .some(nil)
      }
      guard let found else { break }
      if try found.join(settings, location: location) { return (found, false) }
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

  /// The store is closed or gone. Another one of the same directory stays.
  func forget(_ store: ObjectIdentifier, at identity: DirectoryIdentity) {
    places.change { places in
      if places[identity]?.store?.identity == store { places[identity] = nil }
    }
  }
}
