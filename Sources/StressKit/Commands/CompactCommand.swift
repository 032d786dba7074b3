import ArgumentParser
import Cistern

/// `cistern compact`: makes the file as small as what is in it.
struct CompactCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compact",
    abstract: "Make a store's file as small as what is in it.",
    discussion: """
      The file of a store never shrinks by itself: what is removed leaves room for what comes. This copies what is in \
      use and puts the copy in the file's place. Nobody may have the store open. \(ExitStatus.explanation)
      """)

  @Argument(help: "The store's directory.")
  var directory: String

  func run() async throws {
    // Opened once the usual way, so that what cannot be trusted is dealt with before it is copied.
    try await StoreOnDisk(writing: directory).close()
    do {
      let (before, after) = try DiskTier.compact(directory: directory)
      Console.current.print("\(directory): \(before) before, \(after) now")
    } catch {
      throw CommandFailure("\(error)", status: .badInput)
    }
  }
}
