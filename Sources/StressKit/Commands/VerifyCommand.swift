import ArgumentParser
import Cistern

/// `cistern verify`: reads everything, and tells what is wrong.
struct VerifyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Read every record of a store, and print what is damaged.",
    discussion: """
      First checks the structure of the data file, unless a program has the store open. Then compares each record with its \
      checksum, the order of eviction with the records, and the counts with a recount. Changes nothing: the next reader of \
      a damaged record removes it. Other programs may use the store at the same time. \
      \(ExitStatus.explanation)
      """)

  @Argument(help: "The store's directory.")
  var directory: String

  func run() async throws {
    if let damage = try StoreOnDisk.damage(in: directory) {
      Console.current.print(damage)
      throw CommandFailure("\(directory): the data file is damaged; the next opening sets it aside", status: .negative)
    }
    let store = try StoreOnDisk(reading: directory)
    let findings = store.tier.verify()
    let entries = try store.cacheNames().reduce(0) { try $0 + store.partition($1).statistics.entryCount }
    let size = store.tier.statistics.occupiedBytes
    try await store.close()
    for finding in findings { Console.current.print(finding) }
    guard findings.isEmpty else {
      throw CommandFailure("\(directory): \(findings.count) findings", status: .negative)
    }
    Console.current.print(
      "\(directory): \(Formatting.count(entries)) entries in \(ByteCount.bytes(size)), nothing wrong")
  }
}
