import Foundation

/// The directory of a run's store: a permanent directory of the user, or one in the run's temporary directory.
struct StoreDirectory: Sendable {
  let path: String
  /// The directory of everything that the run removes at its end. A run with a directory of the user creates it only
  /// for copies of the store.
  let temporary = NSTemporaryDirectory() + "/cistern-stress-\(UUID().uuidString)"
  private let isTemporary: Bool

  init(_ given: String?) throws {
    isTemporary = given == nil
    path = given ?? temporary + "/store"
    guard isTemporary else { return }
    do {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    } catch {
      throw CommandFailure(
        "a temporary directory for the store could not be created in \(NSTemporaryDirectory()): \(error.localizedDescription);"
          + " choose a directory with --directory", status: .badInput)
    }
  }

  /// Throws if the directory has a store with other caches. The limits of a run could evict records of these
  /// caches.
  func checkIsFree() async throws {
    guard !isTemporary, FileManager.default.fileExists(atPath: path + "/" + StoreDirectory.dataFile) else { return }
    let store = try StoreOnDisk(reading: path)
    let names = try store.cacheNames()
    try await store.close()
    if let foreign = names.first(where: { $0 != Subject.cacheName }) {
      throw CommandFailure(
        "the store in \(path) has a cache '\(foreign)', and a stress run could evict its records; choose another directory",
        status: .badInput)
    }
  }

  private static let dataFile = "data.mdb"

  /// Removes the temporary directory, if it exists. A store of the user stays.
  func removeTemporary() {
    guard FileManager.default.fileExists(atPath: temporary) else { return }
    do {
      try FileManager.default.removeItem(atPath: temporary)
    } catch {
      Console.current.printError("the directory \(temporary) could not be removed: \(error.localizedDescription)")
    }
  }
}
