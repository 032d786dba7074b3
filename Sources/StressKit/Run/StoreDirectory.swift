import Foundation

/// The folder that a run's store is in: the user's, which stays, or one of the run's own, which goes with it.
struct StoreDirectory: Sendable {
  let path: String
  private let isTemporary: Bool

  init(_ given: String?) throws {
    if let given {
      path = given
      isTemporary = false
      return
    }
    path = NSTemporaryDirectory() + "/cistern-stress-\(UUID().uuidString)"
    isTemporary = true
    do {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    } catch {
      throw CommandFailure(
        "no folder for the store could be made in \(NSTemporaryDirectory()): \(error.localizedDescription);"
          + " name one with --directory", status: .badInput)
    }
  }

  /// Throws where the folder has a store with caches that no stress run made: a run has limits of its own, and what is over
  /// them goes.
  func checkIsFree() async throws {
    guard !isTemporary, FileManager.default.fileExists(atPath: path + "/" + StoreDirectory.dataFile) else { return }
    let store = try StoreOnDisk(reading: path)
    let names = try store.cacheNames()
    try await store.close()
    if let foreign = names.first(where: { $0 != Subject.cacheName }) {
      throw CommandFailure(
        "the store in \(path) has a cache '\(foreign)', which a stress run could evict from; give it a folder of its own",
        status: .badInput)
    }
  }

  private static let dataFile = "data.mdb"

  func removeIfTemporary() {
    guard isTemporary else { return }
    do {
      try FileManager.default.removeItem(atPath: path)
    } catch {
      Console.current.printError("the folder \(path) could not be removed: \(error.localizedDescription)")
    }
  }
}
