import ArgumentParser
import Cistern
import Foundation

/// `cistern backup`: copies a store.
struct BackupCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Copy a store to another directory.",
    discussion: """
      The copy contains all caches as of one commit, without free space. It opens as an independent store with the same \
      limit. Other programs can use the store at the same time; the values that they have not committed yet are not in \
      the copy. If the command fails, the directory of the copy is as it was. The copy replaces an empty directory, so \
      a shell in that directory must enter it again. \(StoreOnDisk.countNote) \(ExitStatus.explanation)

      Example:
        cistern backup ./store /backups/store-monday
      """)

  @Argument(help: "The store's directory.")
  var directory: String

  @Argument(help: "The directory of the copy, which must be missing or empty.")
  var target: String

  func run() async throws {
    // The copy can replace the working directory, which a relative path would still begin at.
    let copy = BackupCommand.absolutePath(of: target)
    try await StoreOnDisk(reading: directory).use { store in try await store.tier.backUp(to: copy) }
    Console.current.print("\(target): \(await BackupCommand.summary(of: copy))")
  }

  private static func absolutePath(of path: String) -> String {
    let folder = FileManager.default.currentDirectoryPath
    // A backup refuses an empty path. A working directory that was removed has no path.
    guard !path.isEmpty, !path.hasPrefix("/"), !folder.isEmpty else { return path }
    return folder + "/" + path
  }

  /// Returns the number of entries in a complete copy, and its size.
  ///
  /// The backup has succeeded, so a copy that cannot be read is no failure of the command. The result then has the
  /// reason.
  static func summary(of copy: String) async -> String {
    do {
      return try await StoreOnDisk(reading: copy).use { store in
        let size = ByteCount.bytes(store.tier.statistics.occupiedBytes)
        return "\(Formatting.count(try store.entryCount(), "entry", "entries")) in \(size)"
      }
    } catch {
      return "the copy is complete, but its entries could not be counted: \(error)"
    }
  }
}
