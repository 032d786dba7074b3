import Foundation
import StressKit

StandardDescriptors.occupyClosed()
exit(await CisternProgram.run(Array(CommandLine.arguments.dropFirst())))
