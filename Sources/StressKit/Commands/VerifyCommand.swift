import ArgumentParser
import Cistern

/// `cistern verify`: reads all records, and prints the damage.
struct VerifyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Read all records of a store, and print the damage.",
    discussion: """
      The command first checks the structure of the data file, unless another program has the store open. It then \
      checks the checksums of the records, the order of eviction, and the counts of records. It changes nothing: a \
      damaged record is removed when a program next reads it. Other programs can use the store at the same time. \
      \(StoreOnDisk.countNote) \(ExitStatus.explanation)
      """)

  @Argument(help: "The store's directory.")
  var directory: String

  func run() async throws {
    if let damage = try StoreOnDisk.damage(in: directory) {
      Console.current.print(damage)
      throw CommandFailure("\(directory): the data file is damaged; the next opening sets it aside", status: .negative)
    }
    let store = try StoreOnDisk(reading: directory)
    let (verification, entries, size) = try await store.use { store in
      (try await store.tier.verification(), try store.entryCount(), store.tier.statistics.occupiedBytes)
    }
    for defect in verification.defects { Console.current.print(defect) }
    guard verification.isSound else {
      throw CommandFailure(
        "\(directory): \(Formatting.count(verification.defectCount, "problem")) found", status: .negative)
    }
    Console.current.print(
      "\(directory): \(Formatting.count(entries, "entry", "entries")) in \(ByteCount.bytes(size)), no damage found")
  }
}
