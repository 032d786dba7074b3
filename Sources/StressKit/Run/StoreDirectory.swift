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

  func removeIfTemporary() {
    guard isTemporary else { return }
    do {
      try FileManager.default.removeItem(atPath: path)
    } catch {
      Console.current.printError("the folder \(path) could not be removed: \(error.localizedDescription)")
    }
  }
}
