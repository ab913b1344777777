#!/usr/bin/env ruby
# A dispenser in a language without an SDK: sends people of a domain to their page.
require "base64"
require "grpc"
require "grpc/health/v1/health_services_pb"
require "json"
require "openssl"

Google::Protobuf::DescriptorPool.generated_pool.build do
  add_file("plugin.proto", syntax: :proto3) do # the part of pluginsdk/proto that this plugin needs
    add_message("v.Empty") {}
    add_message("v.Describe") { optional :name, :string, 1; optional :version, :string, 2; repeated :roles, :string, 3 }
    add_message("v.Setup") { optional :config, :bytes, 1 }
    add_message("v.Problem") { optional :path, :string, 1; optional :message, :string, 2 }
    add_message("v.Problems") { repeated :problems, :message, 1, "v.Problem" }
    add_message("v.User") { optional :id, :string, 1; optional :name, :string, 2; optional :email, :string, 3 }
    add_message("v.DispenseRequest") { optional :user, :message, 1, "v.User" }
    add_message("v.Intent") { optional :kind, :string, 1; optional :target, :string, 2 }
    add_message("v.Effect") { optional :consume_intended, :message, 1, "v.Empty" }
    add_message("v.DispenseResponse") { optional :intent, :message, 1, "v.Intent"; repeated :effects, :message, 2, "v.Effect" }
  end
end

MESSAGES = %w[Empty Describe Setup Problem Problems User DispenseRequest Intent Effect DispenseResponse].to_h do |name|
  [name, Google::Protobuf::DescriptorPool.generated_pool.lookup("v.#{name}").msgclass] # kept, or the collector takes them
end

def message(name) = MESSAGES.fetch(name)

def service(name, methods)
  Class.new do
    include GRPC::GenericService
    self.marshal_class_method, self.unmarshal_class_method, self.service_name = :encode, :decode, name
    methods.each do |rpc, (input, output, run)|
      rpc(rpc, message(input), message(output))
      define_method(GRPC::GenericService.underscore(rpc.to_s)) { |request, _| run.call(request) }
    end
  end
end

$settings = { "page" => "/partners" }

configure = lambda do |setup|
  config = JSON.parse(setup.config)
  problems = config.filter_map do |key, value|
    next message("Problem").new(path: key, message: "this key is unknown; known are: domain, page") unless %w[domain page].include?(key)
    message("Problem").new(path: key, message: "a string is wanted here") unless value.nil? || value.is_a?(String)
  end
  $settings.update(config.compact)
  message("Problems").new(problems: problems)
end

dispense = lambda do |request|
  partner = $settings["domain"] && request.user.email.downcase.end_with?("@" + $settings["domain"].downcase)
  intent = partner ? { kind: "redirect", target: $settings["page"] } : { kind: "done" }
  effects = partner ? [message("Effect").new(consume_intended: message("Empty").new)] : []
  message("DispenseResponse").new(intent: message("Intent").new(**intent), effects: effects)
end

abort "This is a plugin of Vestibule: name it in config.hcl." unless ENV["VESTIBULE_PLUGIN"] == "vestibule.plugin.v1"
trap("TERM", "IGNORE") # the host says when it is time
Thread.new { $stdin.read; exit!(0) } if ENV["VESTIBULE_LIFELINE"] == "stdin"

key, certificate = OpenSSL::PKey::EC.generate("prime256v1"), OpenSSL::X509::Certificate.new
certificate.version, certificate.serial, certificate.public_key = 2, OpenSSL::BN.rand(120), key
certificate.subject = certificate.issuer = OpenSSL::X509::Name.parse("/CN=localhost")
certificate.not_before, certificate.not_after = Time.now - 60, Time.now + 10 * 365 * 86_400
{ "basicConstraints" => "critical,CA:TRUE", "keyUsage" => "digitalSignature,keyCertSign", "extendedKeyUsage" => "serverAuth,clientAuth",
  "subjectAltName" => "DNS:localhost" }.each { |name, value| certificate.add_extension(OpenSSL::X509::ExtensionFactory.new.create_extension(name, value)) }
certificate.sign(key, OpenSSL::Digest.new("SHA256"))

server = GRPC::RpcServer.new(pool_size: 80, poll_period: 0.1, pool_keep_alive: 0.1) # seconds: it has two to end
socket = File.join(ENV.fetch("PLUGIN_UNIX_SOCKET_DIR"), "plugin.sock")
server.add_http2_port("unix:" + socket, GRPC::Core::ServerCredentials.new(ENV.fetch("PLUGIN_CLIENT_CERT"), [{ private_key: key.to_pem, cert_chain: certificate.to_pem }], true))
server.handle(service("vestibule.plugin.v1.Plugin", Describe: ["Empty", "Describe", ->(_) { message("Describe").new(name: "partners", version: "1.0.0", roles: ["dispenser"]) }],
  Configure: ["Setup", "Problems", configure], Dispense: ["DispenseRequest", "DispenseResponse", dispense]))
server.handle(service("plugin.GRPCController", Shutdown: ["Empty", "Empty", ->(_) { Thread.new { server.stop }; message("Empty").new }]))
server.handle(Class.new(Grpc::Health::V1::Health::Service) { def check(*) = Grpc::Health::V1::HealthCheckResponse.new(status: :SERVING) })
Thread.new { server.wait_till_running; $stdout.puts "1|1|unix|#{socket}|grpc|#{Base64.strict_encode64(certificate.to_der).delete('=')}"; $stdout.flush }
server.run
File.delete(socket) if File.exist?(socket)
