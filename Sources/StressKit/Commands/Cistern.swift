import ArgumentParser

/// The program `cistern`. All functions are in its subcommands.
package struct CisternProgram: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "cistern",
    abstract: "Stress a two-tier cache, read and change its store on disk, and replay traces of requests.",
    discussion: ExitStatus.explanation,
    version: ProgramVersion.text,
    groupedSubcommands: [
      CommandGroup(name: "Test and measure", subcommands: [StressCommand.self, ReplayCommand.self]),
      CommandGroup(
        name: "Read and change a store on disk",
        subcommands: [
          StatCommand.self, ListCommand.self, GetCommand.self, PutCommand.self, RemoveCommand.self, VerifyCommand.self,
          CompactCommand.self, BackupCommand.self, ExportCommand.self, ImportCommand.self,
        ]),
    ])

  package init() {}

  /// Runs the program with these arguments, and returns the exit code of the process.
  package static func run(_ arguments: [String]) async -> Int32 {
    let console = Console.current
    do {
      var command = try parseAsRoot(arguments)
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
      if let failure = console.outputFailure() {
        throw CommandFailure("standard output could not be written completely: \(failure)", status: .badInput)
      }
      return ExitStatus.success.rawValue
    } catch let failure as CommandFailure {
      if !failure.message.isEmpty { console.printError("cistern: \(failure.message)") }
      return failure.status.rawValue
    } catch {
      let text = fullMessage(for: error)
      // Requested help goes to standard output. Help that follows an error goes to standard error.
      if exitCode(for: error).isSuccess {
        console.print(text)
        return ExitStatus.success.rawValue
      }
      console.printError(text)
      return ExitStatus.badInput.rawValue
    }
  }
}
