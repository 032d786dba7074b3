import ArgumentParser
import Cistern

/// `cistern compact`: rewrites the data file without free space.
struct CompactCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compact",
    abstract: "Remove the free space from a store's data file.",
    discussion: """
      The data file of a store never shrinks by itself: a removal leaves free space for later records. The command \
      copies the records to a new file, and replaces the data file with it. No program may have the store open. If \
      the data file is damaged, the command fails and changes nothing. \(ExitStatus.explanation)
      """)

  @Argument(help: "The store's directory.")
  var directory: String

  func run() async throws {
    try StoreOnDisk.requireStore(in: directory)
    do {
      let result = try await Store.compact(directory: directory)
      Console.current.print("\(directory): \(result.before) before, \(result.after) after")
      if result.damagedRecordCount > 0 {
        Console.current.print(
          "\(directory): \(Formatting.count(result.damagedRecordCount, "damaged record")) removed")
      }
    } catch {
      throw CommandFailure(error)
    }
  }
}
