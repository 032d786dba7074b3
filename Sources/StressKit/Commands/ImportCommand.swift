import ArgumentParser
import Cistern

/// `cistern import`: records from JSON Lines.
struct ImportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Store records from JSON Lines, as `cistern export` writes them.",
    discussion: """
      A line needs a "key" (or "keyBase64") and a value: "value" in base64, "text", or "json". All else may be left out; \
      what is not known is refused. The whole file is read first: where a line is wrong, it is named, and nothing is \
      stored. Then records are committed a few hundred at a time. A record takes the place of one with its key; others \
      stay. Programs that hold a key in memory go on with what they hold. FILE may be compressed with gzip. \
      \(ExitStatus.explanation)

      Examples:
        cistern import ./store articles articles.jsonl
        cistern export ./store articles | cistern import ./other articles --disk-limit 1GiB
        echo '{"key":"news/42","json":{"title":"Rain"}}' | cistern import ./store articles
      """)

  @Argument(help: "The store's directory.")
  var directory: String

  @Argument(help: "The cache's name; a new one begins a cache.")
  var cache: String

  @Argument(help: "The file to read. (default: standard input)")
  var file: String?

  @Option(
    help: "The limit of a store that is not there yet, and is made with it: \(ByteCount.argumentForm).",
    transform: ByteCount.positive)
  var diskLimit: ByteCount?

  func run() async throws {
    let source = try ImportSource(file)
    let largest: ImportSource.Largest?
    do {
      // Before a store is made for what cannot be read.
      largest = try source.largest()
    } catch {
      throw CommandFailure("\(error); nothing was imported", status: .badInput)
    }
    let store = try StoreOnDisk(writing: directory, orMakingWith: diskLimit)
    do {
      let partition = try store.partition(cache, beginning: true)
      if let largest, !partition.canHold(batchBytes: largest.size, count: 1) {
        throw CommandFailure(
          "\(source.name):\(largest.line): the record has \(ByteCount.bytes(largest.size)), more than the store can hold with its limit; nothing was imported",
          status: .badInput)
      }
      let count = try await RecordImport(partition: partition, source: source).run()
      let evicted = store.tier.statistics.evictions
      try await store.close()
      Console.current.printError("\(Formatting.count(count)) records imported into '\(cache)'")
      if evicted > 0 {
        Console.current.printError(
          "\(Formatting.count(evicted)) records, older ones first, had to go: the store has reached its limit")
      }
    } catch {
      try await store.close()
      throw error
    }
  }
}
