import ArgumentParser
import Cistern

/// `cistern backup`: copies a store.
struct BackupCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Copy a store to another directory.",
    discussion: """
      The copy contains all caches as of one commit, without free space. It opens as an independent store with the same \
      limit. Other programs can use the store at the same time; the values that they have not committed yet are not in \
      the copy. If the command fails, the directory of the copy is as it was. \(ExitStatus.explanation)

      Example:
        cistern backup ./store /backups/store-monday
      """)

  @Argument(help: "The store's directory.")
  var directory: String

  @Argument(help: "The directory of the copy, which must be missing or empty.")
  var target: String

  func run() async throws {
    try await StoreOnDisk(reading: directory).use { store in try await store.tier.backUp(to: target) }
    let copy = try StoreOnDisk(reading: target)
    let entries = try copy.entryCount()
    let bytes = copy.tier.statistics.occupiedBytes
    try await copy.close()
    Console.current.print("\(target): \(Formatting.count(entries, "entry", "entries")) in \(ByteCount.bytes(bytes))")
  }
}
