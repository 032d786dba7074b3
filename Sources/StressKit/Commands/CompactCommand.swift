import ArgumentParser
import Cistern

/// `cistern compact`: makes the file as small as the records in it allow.
struct CompactCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compact",
    abstract: "Make a store's file as small as the records in it allow.",
    discussion: """
      The file of a store never shrinks by itself: a removal leaves room for later records. This command copies the \
      records that are left, and replaces the file with the copy. No program may have the store open. If the file is \
      damaged, the command fails and leaves the files as they are. \(ExitStatus.explanation)
      """)

  @Argument(help: "The store's directory.")
  var directory: String

  func run() async throws {
    try StoreOnDisk.requireStore(in: directory)
    do {
      let (before, after) = try DiskTier.compact(directory: directory)
      Console.current.print("\(directory): \(before) before, \(after) now")
    } catch {
      throw CommandFailure(error)
    }
  }
}
