import Foundation
import StressKit

exit(await CisternProgram.run(Array(CommandLine.arguments.dropFirst())))
