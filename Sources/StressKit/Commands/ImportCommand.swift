import ArgumentParser
import Cistern
import InputFormats

/// `cistern import`: stores records from JSON Lines.
struct ImportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Store records from JSON Lines, as `cistern export` writes them.",
    discussion: """
      Each line needs a "key" (or "keyBase64") and a value: "value" in base64, "text", or "json". All other members \
      are optional; an unknown member is an error. A "key" is stored in its composed Unicode form (NFC), as caches with \
      strings as keys store it; "keyBase64" has the exact bytes. The command first reads the whole file. If a line is wrong, or a \
      record or line is too large for the store, it prints the number of the line and stores nothing. It then commits a few \
      hundred records at a time. A record replaces the record with the same key; other records stay. A running \
      program keeps the values that it has in memory. FILE can be compressed with gzip, and can be a pipe, whose bytes are kept \
      in memory. A byte order mark is skipped. \
      \(ExitStatus.explanation)

      Examples:
        cistern import ./store articles articles.jsonl
        cistern export ./store articles | cistern import ./other articles --disk-limit 1GiB
        echo '{"key":"news/42","json":{"title":"Rain"}}' | cistern import ./store articles
      """)

  @Argument(help: "The store's directory.")
  var directory: String

  @Argument(help: "The cache's name. A new name creates a cache.")
  var cache: String

  @Argument(help: "The file to read; - for standard input. (default: standard input)")
  var file: String?

  @Option(
    parsing: .unconditional,
    help: "Create the store with this limit if it does not exist: \(ByteCount.argumentForm).",
    transform: ByteCount.positive)
  var diskLimit: ByteCount?

  func run() async throws {
    try StoreOnDisk.requireCacheName(cache)
    let limit = try StoreOnDisk.limit(of: directory, orMakingWith: diskLimit)
    let largestRecord = try RecordSize.largest(limit: limit, in: directory)
    let source: ImportSource
    let largest: RecordSize?
    do {
      source = try ImportSource(file == "-" ? nil : file, largestRecord: largestRecord)
      // This check precedes the creation of the store: a file that cannot be read must not create one.
      largest = try source.largest()
    } catch {
      throw CommandFailure("\(error); nothing was imported", status: .badInput)
    }
    try await StoreOnDisk(writing: directory, orMakingWith: diskLimit, toHold: largest).use { store in
      let partition = try store.partition(cache, beginning: true)
      let count = try await RecordImport(partition: partition, source: source).run()
      Console.current.printError("\(Formatting.count(count, "record")) imported into '\(cache)'")
      store.printEvictions()
    }
  }
}
